#pragma once
/// \file optimizer_time.h: how long a rank's optimizer takes.
///
/// Answers seconds per step. Model: every byte of the updated states is read and written once, at the bandwidth that
/// kernels reach; Muon orthogonalises besides (orthogonalisation_time.h). Checked against:
/// tests/unit/core/cost/optimizer_time_test.cpp; tests/property/simulation_agreement_test.cpp (the optimizer of a
/// simulated step).

#include "core/cost/kernel_time.h"
#include "core/cost/stage_cost.h"

namespace plumbline {

[[nodiscard]] Seconds optimizer_time(const KernelClock& kernels, const Training& training, const StageCost& stage,
                                     const Strategy& strategy);

}  // namespace plumbline
