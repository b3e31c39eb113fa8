#pragma once
/// \file optimizer_time.h: how long a rank's optimizer takes.
///
/// Answers seconds per step. Model: every byte of the updated states is read and written once, at the bandwidth that
/// kernels reach. Muon orthogonalises the update X of each matrix (m x n, m the shorter side) in five Newton-Schulz
/// iterations, X <- aX + (bA + cA^2)X with A = XX^T: products of m x n x m, m x m x m and m x m x n. Tensor-parallel
/// ranks work on the whole matrix, ranks that share states on their share of all. Source: Jordan et al., "Muon", 2024
/// (iterations, products). Not modelled here: what it gathers for that (matrix_gathers.h, step_time.h); matrices of
/// which several ranks update a part and which each of them orthogonalises. Checked against:
/// tests/unit/core/cost/optimizer_time_test.cpp (products counted by hand);
/// tests/property/simulation_agreement_test.cpp (the optimizer of a simulated step).

#include "core/cost/kernel_time.h"
#include "core/cost/stage_cost.h"

namespace plumbline {

/// Of the trained matrices of a block, each once; experts' matrices as the rank holds them.
[[nodiscard]] Seconds orthogonalisation_time(const KernelClock& kernels, const Block& block, const Shard& shard);

[[nodiscard]] Seconds optimizer_time(const KernelClock& kernels, const Training& training, const StageCost& stage,
                                     const Strategy& strategy);

}  // namespace plumbline
