#include "runtime/execution/buffer_places.h"

#include "core/base/errors.h"

namespace plumbline {

Place OwnPlaces::take(Bytes bytes, SizeFrom) {
  std::vector<std::byte*>& idle = idle_[bytes];
  if (idle.empty()) {
    owned_.push_back(device_.reserve(bytes));
    reserved_ += bytes;
    idle.push_back(owned_.back().get());
  }
  std::byte* const data = idle.back();
  idle.pop_back();
  return {data, this};
}

void LifeRecorder::begin_action(std::int32_t action) {
  action_ = action;
  if (std::ssize(plan_.actions) <= action) plan_.actions.resize(static_cast<std::size_t>(action) + 1);
  plan_.actions[static_cast<std::size_t>(action)] = {static_cast<std::int32_t>(plan_.lives.size()), 0};
}

Place LifeRecorder::take(Bytes bytes, SizeFrom size) {
  check(action_ >= 0, "what is bound in a step is bound by an action");
  ++plan_.actions[static_cast<std::size_t>(action_)].count;
  if (size == SizeFrom::routing) plan_.depends_on_routing = true;
  const auto life = static_cast<std::int32_t>(plan_.lives.size());
  plan_.lives.push_back({life, events_++, -1, bytes, Bytes(0)});
  memory_.push_back(device_.reserve(bytes));
  return {memory_.back().get(), this, life};
}

void LifeRecorder::give_back(const Place& place, Bytes) {
  plan_.lives[static_cast<std::size_t>(place.life)].last = events_++;
}

StepPlan LifeRecorder::plan(std::size_t actions) const {
  StepPlan plan = plan_;
  plan.actions.resize(actions);
  for (const BufferLife& life : plan.lives) check(life.last >= 0, "what a step binds is given back in it");
  plan.live_peak = live_peak(plan.lives);
  plan.size = place_lives(plan.lives, default_alignment);
  return plan;
}

void StepArena::begin_action(std::int32_t action) {
  action_ = action;
  bound_ = 0;
}

Place StepArena::take(Bytes bytes, SizeFrom size) {
  if (action_ < 0 || action_ >= std::ssize(plan_.actions)) fail("binds a buffer, and nothing is planned");
  const StepPlan::Lives& planned = plan_.actions[static_cast<std::size_t>(action_)];
  if (bound_ >= planned.count) fail("binds more buffers than are planned: " + std::to_string(planned.count));
  const std::int32_t index = planned.first + bound_;
  const BufferLife& life = plan_.lives[static_cast<std::size_t>(index)];
  if (bytes > life.bytes && size == SizeFrom::program)
    fail("binds " + std::to_string(bytes.value()) + " bytes where " + std::to_string(life.bytes.value()) +
         " are planned");
  ++bound_;
  if (bytes > life.bytes) return others_.take(bytes, size);
  claim(life);
  return {memory_ + life.offset.value(), this, index};
}

void StepArena::claim(const BufferLife& life) {
  if (life.bytes.value() == 0) return;
  const std::int64_t begin = life.offset.value();
  const std::int64_t end = begin + life.bytes.value();
  const auto behind = in_use_.lower_bound(begin);
  const bool meets_next = behind != in_use_.end() && behind->first < end;
  const bool meets_last = behind != in_use_.begin() && std::prev(behind)->second > begin;
  if (meets_next || meets_last || end > plan_.size.value()) fail("is given bytes that another buffer holds");
  in_use_.emplace_hint(behind, begin, end);
}

void StepArena::give_back(const Place& place, Bytes) {
  const BufferLife& life = plan_.lives[static_cast<std::size_t>(place.life)];
  if (life.bytes.value() > 0) in_use_.erase(life.offset.value());
}

void StepArena::fail(const std::string& what) const {
  throw InternalError("memory plan of a step: action " + std::to_string(action_) + " " + what);
}

}  // namespace plumbline
