#include "runtime/execution/collectives_inside.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/errors.h"
#include "core/program/action_kinds.h"

namespace plumbline {
namespace {

/// Of what the pass of action `block` sends, by kind of group; -1: none.
std::array<std::int32_t, block_axis_count> views_behind(std::int32_t block, const RankProgram& rank) {
  std::array<std::int32_t, block_axis_count> views{};
  views.fill(-1);
  const Action& ran = rank.actions[static_cast<std::size_t>(block)];
  const auto& pass = std::get<ComputePass>(ran.what);
  for (std::int32_t i = block + 1; i < std::ssize(rank.actions); ++i) {
    const Action& action = rank.actions[static_cast<std::size_t>(i)];
    if (computes(action)) break;
    const auto* view = std::get_if<BlockCollective>(&action.what);
    if (view == nullptr || view->of != pass.of || view->segment != pass.segment || action.chunk != ran.chunk ||
        action.micro_batch != ran.micro_batch)
      continue;
    views[static_cast<std::size_t>(view->axis)] = i;
  }
  return views;
}

}  // namespace

CollectivesInside::CollectivesInside(const RankProgram& rank, GroupCalls& calls) : rank_(rank), calls_(calls) {}

void CollectivesInside::begin_step() {
  inside_.clear();
  calls_.begin_step();
}

void CollectivesInside::begin_block() {
  before_ = sent();
  first_call_ = calls_.timed().size();
}

WireBytes CollectivesInside::sent() {
  WireBytes sums;
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::expert, Axis::expert_tensor})
    for (const Bytes bytes : calls_.group(axis).sent().bytes) sums[block_axis(axis)] += bytes;
  return sums;
}

void CollectivesInside::end_block(std::int32_t index, std::vector<ActionTime>& times) {
  const WireBytes after = sent();
  const Action& block = rank_.actions[static_cast<std::size_t>(index)];
  const std::array<std::int32_t, block_axis_count> views = views_behind(index, rank_);
  for (const BlockAxis axis : block_axes) {
    const Bytes of_block = after[axis] - before_[axis];
    const std::int32_t view = views[static_cast<std::size_t>(axis)];
    if (view < 0) {
      // What weight gradients gather again is priced in the backward that put them off.
      if (of_block > Bytes(0) && block.kind() != ActionKind::backward_weight)
        throw InternalError(to_text(block) + ": no " + std::string(to_text(action_kind(axis))) +
                            " of the program is a view of what its block sent");
      times[static_cast<std::size_t>(index)].sent += of_block;
      continue;
    }
    ActionTime& time = times[static_cast<std::size_t>(view)];
    time.sent += of_block;
    time.is_inside = true;
    Inside& inside = inside_.emplace_back(Inside{index, view, {}});
    std::copy_if(calls_.timed().begin() + static_cast<std::ptrdiff_t>(first_call_), calls_.timed().end(),
                 std::back_inserter(inside.calls),
                 [&](const TimedCall& call) { return block_axis(call.axis) == axis; });
  }
}

void CollectivesInside::book(std::vector<ActionTime>& times) const {
  for (const Inside& inside : inside_) {
    ActionTime& block = times[static_cast<std::size_t>(inside.block)];
    ActionTime& collective = times[static_cast<std::size_t>(inside.view)];
    std::int64_t spent = 0;
    for (const TimedCall& call : inside.calls) spent += calls_.elapsed_ns(call);
    collective.end_ns = block.end_ns;
    // Each time is rounded by itself.
    collective.start_ns = block.end_ns -= std::min(spent, block.end_ns - block.start_ns);
  }
}

}  // namespace plumbline
