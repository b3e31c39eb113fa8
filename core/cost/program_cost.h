#pragma once
/// \file program_cost.h: picoseconds that each action of a program occupies its rank, or its message travels.
///
/// Model: the terms of step_time.h, action by action: compute and exposed collectives of a piece; what gathers and
/// reductions leave exposed on the rank (its p-norm), divided over its pieces by their compute; a hop for each message,
/// on its way or at the receiver (Handover); reduction, optimizer step and overhead once.
/// Source: step_time.h, block_cost.h. A split backward gives half its compute to weight gradients.
/// Not modelled: overlap that depends on what runs beside; contention of groups for a link.
/// Checked against: tests/property/simulation_agreement_test.cpp (closed form of the same plans).

#include "core/cost/program_sizes.h"

namespace plumbline {

struct ActionTimes {
  std::vector<std::vector<Picoseconds>> of_rank;  ///< by action; of sends: until the message is there
  Picoseconds overhead{0};                        ///< of the step, on no rank in particular
};

/// `program` was lowered from `plan` and `pieces`.
[[nodiscard]] ActionTimes action_times(const PricedPlan& plan, const PieceTable& pieces, const Program& program);

}  // namespace plumbline
