#include "runtime/execution/action_lanes.h"

#include <algorithm>

namespace plumbline {

void ActionLanes::begin_step() {
  std::fill(ended_.begin(), ended_.end(), Mark{});
  std::fill(is_issued_.begin(), is_issued_.end(), false);
  last_in_order_ = device_.mark(Stream::compute);  // first weights, or those of a checkpoint, may still be on their way
}

std::vector<std::int32_t> ActionLanes::starting_with(std::int32_t index) const {
  std::vector<std::int32_t> found;
  for (std::int32_t i = index + 1; i < std::ssize(rank_.actions) && action(i).issue == Issue::with_last; ++i)
    found.push_back(i);
  return found;
}

void ActionLanes::begin(std::int32_t index) {
  is_issued_[static_cast<std::size_t>(index)] = true;
  const Stream lane = lane_of(action(index));
  device_.wait(lane, last_in_order_);
  for (const std::int32_t needed : action(index).needs)
    if (needed >= 0) device_.wait(lane, ended_[static_cast<std::size_t>(needed)]);
}

void ActionLanes::end(std::int32_t index) {
  Mark& mark = ended_[static_cast<std::size_t>(index)];
  mark = device_.mark(lane_of(action(index)));
  if (action(index).issue == Issue::in_order) last_in_order_ = mark;
}

void ActionLanes::join() {
  for (std::size_t lane = 0; lane < stream_count; ++lane)
    device_.wait(Stream::compute, device_.mark(static_cast<Stream>(lane)));
}

}  // namespace plumbline
