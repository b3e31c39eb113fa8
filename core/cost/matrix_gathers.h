#pragma once
/// \file matrix_gathers.h: what an optimizer that needs whole matrices gathers, or sums of them, where ranks share or
/// divide them.
///
/// Answers bytes per step and rank. Model: once a step, unit by unit, ranks that share a layer's states (ZeRO) gather
/// the directions of the whole section, of which each has made its part from its own momentum; then tensor-parallel
/// ranks gather each matrix that they divide. Directions are fp32. A rank works on all matrices of which it updates a
/// part, and tensor-parallel ranks do the same work. Experts have sections of their own, and each expert's matrix is
/// one matrix; ranks that divide experts (etp) gather all of a tensor's at once. One buffer holds the largest section
/// and the largest whole tensor. An optimizer that factors squared gradients sums them by row and column instead, twice
/// for each section, whoever trains it (core/sharding/factored_squares.h); one buffer holds the largest section's sums.
/// Source: Liu et al., "Muon is scalable for LLM training", arXiv:2502.16982, section 2.3 (gathers over data-parallel
/// ranks); NVIDIA's Emerging-Optimizers, TensorParallelMuon with tp_mode "duplicated". Not modelled: gathering for the
/// ranks alone that need a matrix; overlap. Checked against: tests/runtime/execution/matrix_update_test.cpp (bytes held
/// and sent, one rank's weights).

#include "core/cost/rank_parameters.h"
#include "core/plan/strategy.h"
#include "core/program/shared_states.h"

namespace plumbline {

/// `parameters`: of a rank.
[[nodiscard]] MatrixGathers matrix_gathers(const RankParameters& parameters, const Strategy& strategy,
                                           Optimizer optimizer);

}  // namespace plumbline
