#pragma once
/// \file optimizer_time.h: how long a rank's optimizer takes.
///
/// Answers seconds per step. Model: every byte of the updated states is read and written once, at the bandwidth that
/// kernels reach; Muon adds its iterations of matrix products, each matrix as a square of a unit's mean size, whole on
/// every tensor-parallel rank. Source: Jordan et al., "Muon", 2024 (iterations, products). Not modelled here: what it
/// gathers for that (matrix_gathers.h, step_time.h); matrices of which several ranks update a part.
/// Checked against: tests/property/simulation_agreement_test.cpp (the optimizer of a played step).

#include "core/cost/kernel_time.h"
#include "core/cost/stage_cost.h"

namespace plumbline {

[[nodiscard]] Seconds optimizer_time(const KernelClock& kernels, const Training& training, const StageCost& stage,
                                     const Strategy& strategy);

}  // namespace plumbline
