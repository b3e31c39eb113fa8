#pragma once
/// \file left_out_needs.h: programs whose blocks do not wait for what they need, as a run's numbers must show.

#include <memory>
#include <utility>

#include "core/program/block_program.h"
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

/// Backwards inside of a block no longer wait for its collectives.
[[nodiscard]] inline Program without_waits_in_blocks(Program program) {
  std::int64_t left_out = 0;
  for (std::shared_ptr<const BlockProgram>& block : program.blocks) {
    BlockProgram changed = *block;
    for (Instruction& i : changed.pass(BlockPass::backward)) {
      left_out += i.waits_for >= 0 ? 1 : 0;
      i.waits_for = -1;
    }
    block = std::make_shared<const BlockProgram>(std::move(changed));
  }
  REQUIRE(left_out > 0);
  return program;
}

}  // namespace plumbline
