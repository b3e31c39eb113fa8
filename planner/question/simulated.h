#pragma once
/// \file simulated.h: one legal strategy lowered and played: what `simulate` answers, and the search's finalists.

#include "core/simulate/simulation.h"
#include "planner/question/question.h"

namespace plumbline {

struct PlayedPlan {
  Program program;
  Simulation simulation;
};

/// Throws InternalError when the program would wait for ever or misuse a buffer: our bug, not the strategy's.
[[nodiscard]] PlayedPlan played(const Question& question, const Strategy& strategy,
                                Granularity granularity = Granularity::chunk, const TimelineOptions& options = {});

}  // namespace plumbline
