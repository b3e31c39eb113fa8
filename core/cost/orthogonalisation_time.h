#pragma once
/// \file orthogonalisation_time.h: how long Muon takes to orthogonalise the matrices of a block.
///
/// Answers seconds per step. Model: the update X of each matrix (m x n, m the shorter side) goes through five
/// Newton-Schulz iterations, X <- aX + (bA + cA^2)X with A = XX^T: products of m x n x m, m x m x m and m x m x n.
/// Tensor-parallel ranks work on the whole matrix, ranks that share states on their share of all. Source: Jordan et
/// al., "Muon", 2024 (iterations, products). Not modelled here: what it gathers for that (matrix_gathers.h,
/// step_time.h); matrices of which several ranks update a part and which each of them orthogonalises. Checked against:
/// tests/unit/core/cost/optimizer_time_test.cpp (products counted by hand).

#include "core/cost/kernel_time.h"
#include "core/graph/block.h"
#include "core/sharding/shard.h"

namespace plumbline {

/// Of the trained matrices of a block, each once; experts' matrices as the rank holds them.
[[nodiscard]] Seconds orthogonalisation_time(const KernelClock& kernels, const Block& block, const Shard& shard);

}  // namespace plumbline
