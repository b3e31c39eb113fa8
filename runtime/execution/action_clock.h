#pragma once
/// \file action_clock.h: when each of a rank's actions began and ended on its device in one step.
///
/// Answers nanoseconds from the step's begin, and which action is not done yet. Model: an action has two timed marks on
/// its lane; a message that has a stream of its own is timed there. Collectives inside a block have no marks; their
/// block gives their times (collectives_inside.h). After a step the host waits once, or, on a device that reports
/// failures late, for one action at a time, so that the first failed action is known (ComputeDevice::finish_in_turn).
/// Checked against: tests/cuda/failed_actions_test.cpp, tests/runtime/execution.

#include <chrono>
#include <vector>

#include "runtime/device/compute_device.h"
#include "runtime/execution/collectives_inside.h"

namespace plumbline {

class ActionClock {
 public:
  ActionClock(ComputeDevice& device, std::size_t actions) : device_(device), marks_(actions), times_(actions) {}

  /// Forgets the last step's times and marks the begin of the next.
  void begin_step();
  /// The same marks are about to be passed again, by a step that was recorded.
  void begin_again();
  void begin(std::int32_t action, Stream lane);
  void end(std::int32_t action, Stream lane, bool sends);
  /// Returns when all actions are done.
  void finish();
  /// Requires `finish`.
  void read();

  /// When the last step began on this rank, on the clock of its computer: ranks are aligned by it.
  [[nodiscard]] std::chrono::steady_clock::time_point step_begin() const { return begin_; }
  /// By action. Blocks write those of the collectives inside them.
  [[nodiscard]] std::vector<ActionTime>& times() { return times_; }
  [[nodiscard]] const std::vector<ActionTime>& times() const { return times_; }
  /// What the host waits for behind the step; -1: nothing.
  [[nodiscard]] std::int32_t waiting_for() const { return waiting_for_; }
  /// The first action up to `given` that is not known to be done.
  [[nodiscard]] std::int32_t first_open(std::int32_t given) const;

 private:
  struct Marks {
    Mark start;
    Mark end;
  };
  [[nodiscard]] bool is_marked(std::size_t action) const { return !times_[action].is_inside; }

  ComputeDevice& device_;
  std::chrono::steady_clock::time_point begin_;
  Mark step_;  ///< where the step began
  std::vector<Marks> marks_;
  std::vector<ActionTime> times_;
  std::int32_t waiting_for_ = -1;
};

}  // namespace plumbline
