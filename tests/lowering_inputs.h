#pragma once
/// \file lowering_inputs.h: sizes of small ranks to lower by hand, and what a program does with shared states in words.

#include <array>
#include <string>

#include "core/program/lower.h"

namespace plumbline {

/// Two ranks of one segment each, one micro-batch, everything that a plan may have.
[[nodiscard]] inline LoweringInput two_ranks(std::int32_t zero_stage, std::int32_t micro_batches = 1) {
  LoweringInput input;
  input.zero_stage = zero_stage;
  input.schedule = compute_schedule(Schedule::one_f_one_b, {2, 1, micro_batches});
  SegmentSizes segment;
  segment.executions = {0, 1};
  segment.memory.saved = Bytes(100);
  segment.memory.working.forward = Bytes(10);
  segment.memory.working.backward = Bytes(30);
  segment.forward.tensor = segment.backward.tensor = Bytes(8);
  RankSizes rank;
  rank.chunks = {{{segment}, Bytes(4)}};
  rank.persistent = {{MemoryClass::weights, Bytes(1000)}, {MemoryClass::gradients, Bytes(1000)}};
  if (zero_stage >= 3) rank.gathered_parameters = Bytes(50);
  if (zero_stage >= 2) rank.gathered_gradients = Bytes(60);
  rank.reduction = Bytes(5);
  input.ranks = {rank, rank};
  return input;
}

/// Where a gather puts its first unit, or a pass its gradients.
[[nodiscard]] inline UnitSlot slot_of(const Action& action) {
  if (const auto* gather = std::get_if<ParameterGather>(&action.what)) return gather->slot;
  const auto* pass = std::get_if<ComputePass>(&action.what);
  return pass == nullptr ? UnitSlot::none : pass->gradients;
}

/// "kind bytes issue" of what shares states.
[[nodiscard]] inline std::string sharing_of(const RankProgram& rank) {
  constexpr std::array issues{"in order", "with last", "after last"};
  std::string text;
  for (const Action& action : rank.actions)
    if (action.stream() == Stream::data)
      text += (text.empty() ? "" : "; ") + to_text(action) + " " + std::to_string(action.bytes().value()) + " " +
              issues[static_cast<std::size_t>(action.issue)];
    else if (action.stream() == Stream::compute)
      text += (text.empty() ? "" : "; ") + to_text(action);
  return text;
}

/// One rank without a pipeline, one chunk of two segments.
[[nodiscard]] inline LoweringInput one_rank(std::int32_t zero_stage, std::int32_t micro_batches) {
  LoweringInput input = two_ranks(zero_stage);
  input.schedule = compute_schedule(Schedule::none, {1, 1, micro_batches});
  input.ranks.pop_back();
  input.ranks[0].reduction = Bytes(0);
  std::vector<SegmentSizes>& segments = input.ranks[0].chunks[0].segments;
  segments.push_back(segments[0]);
  return input;
}

}  // namespace plumbline
