#include "runtime/execution/action_clock.h"

namespace plumbline {

void ActionClock::begin_step() {
  waiting_for_ = -1;
  for (ActionTime& time : times_) time = {};
  begin_ = std::chrono::steady_clock::now();
  step_ = device_.timed_mark(Stream::compute);
}

void ActionClock::begin_again() {
  waiting_for_ = -1;
  begin_ = std::chrono::steady_clock::now();
}

void ActionClock::begin(std::int32_t action, Stream lane) {
  const auto i = static_cast<std::size_t>(action);
  if (is_marked(i)) marks_[i].start = device_.timed_mark(lane);
}

void ActionClock::end(std::int32_t action, Stream lane, bool sends) {
  const auto i = static_cast<std::size_t>(action);
  if (is_marked(i)) marks_[i].end = device_.timed_mark(lane);
  if (const auto message = device_.taken_message(); message && sends) marks_[i] = {message->begin, message->end};
}

void ActionClock::finish() {
  std::vector<Mark> ends;
  std::vector<std::int32_t> actions;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (!is_marked(i)) continue;
    ends.push_back(marks_[i].end);
    actions.push_back(static_cast<std::int32_t>(i));
  }
  device_.finish_in_turn(ends, [&](std::size_t i) { waiting_for_ = actions[i]; });
  waiting_for_ = -1;
}

void ActionClock::read() {
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (!is_marked(i)) continue;
    times_[i].start_ns = device_.elapsed_ns(step_, marks_[i].start);
    times_[i].end_ns = device_.elapsed_ns(step_, marks_[i].end);
  }
}

std::int32_t ActionClock::first_open(std::int32_t given) const {
  for (std::int32_t i = 0; i < given; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (is_marked(at) && !device_.is_known_passed(marks_[at].end)) return i;
  }
  return given;
}

}  // namespace plumbline
