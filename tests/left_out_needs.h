#pragma once
/// \file left_out_needs.h: programs whose blocks do not wait for what they need, as a run's numbers must show.

#include "core/program/program.h"
#include "tests/catch.h"

namespace plumbline {

/// Blocks under ZeRO-3 no longer wait for the parameters that are gathered alongside the block before.
[[nodiscard]] inline Program without_needs_of_gathers(Program program) {
  std::int64_t left_out = 0;
  for (RankProgram& rank : program.ranks)
    for (Action& action : rank.actions)
      for (std::int32_t& needed : action.needs) {
        if (needed < 0 || action.stream() != Stream::compute) continue;
        const Action& other = rank.actions[static_cast<std::size_t>(needed)];
        if (other.kind() != ActionKind::all_gather_parameters || other.issue == Issue::in_order) continue;
        needed = -1;
        ++left_out;
      }
  REQUIRE(left_out > 0);
  return program;
}

}  // namespace plumbline
