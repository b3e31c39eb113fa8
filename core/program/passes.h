#pragma once
/// \file passes.h: the passes of lowering, in their order; each makes one rank's list longer.
///
/// Answers: a list of actions in order of issue. Model and source: see lower.h; one .cpp for each pass.
/// Not modelled: times; the order of issue does not depend on them.
/// Checked against: tests/unit/core/program/lower_test.cpp.

#include <algorithm>
#include <tuple>

#include "core/program/unit_table.h"

namespace plumbline::passes {

using Actions = std::vector<Action>;
struct RankContext {
  const LoweringInput& input;
  std::int32_t rank;
  UnitTable& units;  ///< to which passes add the orders that they need
  [[nodiscard]] const RankSizes& sizes() const { return input.ranks[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const SegmentSizes& segment(const Action& a) const {
    return sizes().chunks[static_cast<std::size_t>(a.chunk)].segments[static_cast<std::size_t>(a.segment())];
  }
  /// The segment that its unit begins with, in the order of the network: that has what the unit sends.
  [[nodiscard]] const SegmentSizes& unit_of(const Action& a) const {
    const std::vector<SegmentSizes>& segments = sizes().chunks[static_cast<std::size_t>(a.chunk)].segments;
    auto i = static_cast<std::size_t>(a.segment());
    while (segments[i].units == 0) --i;
    return segments[i];
  }
};

/// Actions of one micro-batch in one chunk and pass are neighbours; inside, those of one segment do.
[[nodiscard]] inline auto group_of(const Action& a) { return std::tuple(a.chunk, a.micro_batch, a.pass()); }
[[nodiscard]] inline auto segment_of(const Action& a) {
  return std::tuple(a.chunk, a.micro_batch, a.pass(), a.segment());
}

/// Whether a segment's run of actions ends at `i`.
[[nodiscard]] inline bool ends_segment(const Actions& actions, std::size_t i) {
  return i + 1 == actions.size() || segment_of(actions[i + 1]) != segment_of(actions[i]);
}
[[nodiscard]] inline bool begins_segment(const Actions& actions, std::size_t i) {
  return i == 0 || segment_of(actions[i - 1]) != segment_of(actions[i]);
}

/// Appends before[copied, end) to `actions` and moves `copied` to `end`; nothing where `end` is not beyond it.
inline void copy_until(Actions& actions, const Actions& before, std::size_t& copied, std::size_t end) {
  const auto at = [&](std::size_t i) { return before.begin() + static_cast<std::ptrdiff_t>(i); };
  if (copied < end) actions.insert(actions.end(), at(copied), at(end));
  copied = std::max(copied, end);
}

/// An action of the same micro-batch in the same chunk.
[[nodiscard]] inline Action beside(const Action& at, const ActionPayload& what, Issue issue = Issue::in_order) {
  Action action;
  action.chunk = at.chunk;
  action.micro_batch = at.micro_batch;
  action.issue = issue;
  action.what = what;
  return action;
}
/// An action of the rank, once in its step.
[[nodiscard]] inline Action once_per_step(const ActionPayload& what, Issue issue = Issue::in_order) {
  return beside(Action{}, what, issue);
}
/// Of a pass forward or backward.
[[nodiscard]] inline Direction direction_of(const Action& a) {
  return a.pass() == Pass::forward ? Direction::forward : Direction::backward;
}

/// Forward segments in the order of the network, backward segments against it.
[[nodiscard]] Actions compute(const RankContext& context);
void add_recompute(const RankContext& context, Actions& actions);
/// After the compute of each segment; those of a recompute after it.
[[nodiscard]] Actions add_collectives(const RankContext& context, const Actions& before);
/// A receive before the first segment of a pass, a send after its last, where the neighbour is another rank.
[[nodiscard]] Actions add_transfers(const RankContext& context, const Actions& before);
/// ZeRO-3: around every pass; ZeRO-1 and 2: before the first forward, what the last optimizer step has updated. The
/// first unit of a pass is waited for, each other one is gathered alongside the compute of the one before; without
/// prefetch every unit is waited for. By chunk (UpdateGathers) the updates of a chunk other than the rank's first leave
/// beside the first forward of the chunk before, and its own first forward waits for them.
[[nodiscard]] Actions add_gathers(const RankContext& context, const Actions& before);
/// ZeRO-2 and 3: unit by unit alongside the backward; the last unit of a pass is waited for. Buckets of what is reduced
/// once, alongside the last micro-batch's backward. Always: what is left after the last backward.
[[nodiscard]] Actions add_reductions(const RankContext& context, const Actions& before);
/// Offloaded activations: out after their forward, back alongside the compute before their backward.
void add_copies(const RankContext& context, Actions& actions);
/// With offloaded states around it.
void add_optimizer_step(const RankContext& context, Actions& actions);
/// Buffers and who uses them.
void add_buffers(const RankContext& context, RankProgram& rank);
/// What each action waits for on its rank, and the two ends of each transfer.
void link(Program& program, const LoweringInput& input);

}  // namespace plumbline::passes
