#pragma once
/// \file action_marks.h: where a rank's actions begin and end on its device, and which of them is not done.
///
/// Model: whoever waits for a step waits for one action after the other, so that where work fails, the first action
/// that is not done is known. Actions inside of a block have no marks. Checked against:
/// tests/cuda/failed_actions_test.cpp.

#include <vector>

#include "runtime/device/compute_device.h"

namespace plumbline {

class ActionMarks {
 public:
  ActionMarks(ComputeDevice& device, std::size_t actions) : device_(device), spans_(actions) {}

  void begin_step() { waiting_for_ = -1; }
  [[nodiscard]] TimedSpan& of(std::int32_t action) { return spans_[static_cast<std::size_t>(action)]; }
  /// Returns once all is done that the device was given.
  void finish() {
    for (std::int32_t i = 0; i < std::ssize(spans_); ++i) {
      waiting_for_ = i;
      device_.finish(of(i).end);
    }
    device_.finish_all();
    waiting_for_ = -1;
  }
  /// The action that the host waits for; -1: none.
  [[nodiscard]] std::int32_t waiting_for() const { return waiting_for_; }
  /// The first action up to `given` that is not known to be done.
  [[nodiscard]] std::int32_t first_open(std::int32_t given) const {
    for (std::int32_t i = 0; i < given; ++i)
      if (!device_.is_known_passed(spans_[static_cast<std::size_t>(i)].end)) return i;
    return given;
  }

 private:
  ComputeDevice& device_;
  std::vector<TimedSpan> spans_;
  std::int32_t waiting_for_ = -1;
};

}  // namespace plumbline
