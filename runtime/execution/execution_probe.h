#pragma once
/// \file execution_probe.h: what tests look at inside of a run.
///
/// Model: each function is called on the thread of the rank that it is about, several at the same time, and does
/// nothing unless a test overrides it. What a test throws ends the run as the rank's failure would. Not modelled: what
/// a user hears of a run (run/run_observer.h). Checked against: tests/runtime/execution, which use it.

#include <cstdint>

namespace plumbline {

class ParameterStore;
struct LocalLogits;

/// Must outlive the run; where the run failed, as long as RunFailure says (run/trainer.h).
class ExecutionProbe {
 public:
  ExecutionProbe() = default;
  ExecutionProbe(const ExecutionProbe&) = delete;
  ExecutionProbe& operator=(const ExecutionProbe&) = delete;
  virtual ~ExecutionProbe() = default;

  /// Before each action.
  virtual void on_action(std::int32_t /*rank*/, std::int64_t /*step*/, std::int32_t /*action*/) {}
  /// With each micro-batch's logits of the first step, where the rank holds some of them.
  virtual void on_logits(const LocalLogits& /*logits*/) {}
  /// Once the rank's gradients are reduced; not in a step that is a graph, of which the device has the update before
  /// anybody could look at gradients.
  virtual void on_gradients(std::int32_t /*rank*/, std::int64_t /*step*/, const ParameterStore& /*parameters*/) {}
  /// After each update.
  virtual void on_updated(std::int32_t /*rank*/, std::int64_t /*step*/, const ParameterStore& /*parameters*/) {}
};

}  // namespace plumbline
