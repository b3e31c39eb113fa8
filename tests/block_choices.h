#pragma once
/// \file block_choices.h: all choices and the frontier of a block (block_frontier.h), however many there are.

#include <limits>

#include "planner/checkpointing/block_frontier.h"

namespace plumbline {

[[nodiscard]] inline std::vector<RecomputeChoice> block_choices(const RecomputeProblem& problem) {
  return *block_choices_up_to(problem, Restored::counted, std::numeric_limits<std::size_t>::max());
}
[[nodiscard]] inline std::vector<RecomputeChoice> block_frontier(const RecomputeProblem& problem) {
  return *block_choices_up_to(problem, Restored::ignored, std::numeric_limits<std::size_t>::max());
}

}  // namespace plumbline
