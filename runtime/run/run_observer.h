#pragma once
/// \file run_observer.h: what a caller hears of a run while it goes on, and how it asks the run to end.
///
/// Model: one observer hears all ranks of its process; whoever derives overrides what it wants to hear, the rest does
/// nothing. "Rank 0's thread": in the process of rank 0 alone, one call after another. "Each rank's thread": several at
/// the same time where ranks are threads of one process. What an observer throws ends the run as the rank's failure.
/// Not modelled: what tests look at (execution/execution_probe.h).
/// Checked against: tests/runtime/run/stop_test.cpp, tests/runtime/execution/evaluation_test.cpp.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/io/json.h"
#include "core/measurement/run_record.h"
#include "runtime/training/early_stopping.h"

namespace plumbline {

/// What a rank holds and does in a step (rank_description.h); made where it is asked for.
using DescribeRank = std::function<Json()>;
/// "rank 2 (stage 1) at forward 3 of chunk 0"; made where it is asked for.
using DescribePlace = std::function<std::string()>;

/// Must outlive the run; where the run failed, as long as RunFailure says (trainer.h).
class RunObserver {
 public:
  RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;
  virtual ~RunObserver() = default;

  /// On each rank's thread, before its first step.
  virtual void on_ready(std::int32_t /*rank*/, const DescribeRank& /*describe*/) {}
  /// On each rank's thread, before each action and where a step, an evaluation or a checkpoint begins or ends.
  virtual void on_place(const DescribePlace& /*describe*/) {}
  /// On rank 0's thread, after each step.
  virtual void on_step(const StepRecord& /*step*/) {}
  /// On rank 0's thread, before `on_step` of the last step: what the network goes on with behind the prompt.
  virtual void on_generated(const std::vector<std::int32_t>& /*tokens*/) {}
  /// On rank 0's thread, before `on_step` of the last step, where the held-out loss has not improved for as many
  /// evaluations as the run's patience.
  virtual void on_early_stop(const EarlyStoppingState& /*state*/) {}
  /// On each rank's thread, in each step: the signal that asks the run to end behind it; 0: none. Where one rank is
  /// asked all end there, as if it were the last step.
  [[nodiscard]] virtual int stop_signal() { return 0; }
  /// On rank 0's thread, after `on_step` of the step behind which a signal ends the run: which signal.
  virtual void on_stop(int /*signal*/) {}
};

}  // namespace plumbline
