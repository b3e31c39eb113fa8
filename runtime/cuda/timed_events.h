#pragma once
/// \file timed_events.h: events of one device that remember when they were passed, by number, used again once
/// forgotten.
///
/// Also where a thread's messages have streams of their own (runtime/nccl/nccl_channel.h): when the last one left.
/// Checked against: tests/cuda/nccl_training_test.cpp, tests/cuda/cuda_device_test.cpp.

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "runtime/cuda/cuda_event.h"

namespace plumbline {

class TimedEvents {
 public:
  /// Between two of these events.
  struct Span {
    std::int64_t begin = -1;
    std::int64_t end = -1;
  };

  [[nodiscard]] std::int64_t record(cudaStream_t stream) {
    if (used_ == events_.size()) events_.emplace_back(EventTiming::on);
    if (is_recording_)
      events_[used_].record_in_graph(stream);
    else
      events_[used_].record(stream);
    return static_cast<std::int64_t>(used_++);
  }
  [[nodiscard]] const CudaEvent& at(std::int64_t number) const {
    check(number >= 0 && static_cast<std::size_t>(number) < used_, "a timed mark is not forgotten");
    return events_[static_cast<std::size_t>(number)];
  }
  void forget() {
    used_ = 0;
    message_.reset();
  }
  /// From here on each launch of a graph records them. Returns, at the end, how many there are.
  void begin_recording() { is_recording_ = true; }
  [[nodiscard]] std::size_t end_recording() {
    is_recording_ = false;
    return used_;
  }
  /// The first so many, which a graph is about to record again.
  void use_again(std::size_t count) {
    check(count <= events_.size(), "a graph records events that are there");
    used_ = count;
  }
  void note_message(const Span& span) { message_ = span; }
  /// None: no message left on a stream of its own since this was asked.
  [[nodiscard]] std::optional<Span> take_message() { return std::exchange(message_, std::nullopt); }

 private:
  std::deque<CudaEvent> events_;
  std::size_t used_ = 0;
  bool is_recording_ = false;
  std::optional<Span> message_;
};

}  // namespace plumbline
