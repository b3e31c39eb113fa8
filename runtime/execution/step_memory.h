#pragma once
/// \file step_memory.h: where everything lies that a rank binds in a step, known before the first one.
///
/// Answers: a plan of places, and of scratch, in bytes. Model: the rank's own executor walks the program, and its
/// interpreter the instructions of the blocks, on a device that does nothing (device/idle_device.h): no kernel runs,
/// nothing is sent and no memory is taken, but everything is bound and given back when it will be. So there is no
/// second description of what lives when. An evaluation of some micro-batches has a plan of its own. Lives end in the
/// order of the host: a buffer that another lane works on is given up behind a wait of the compute lane, and another
/// lane that gets its bytes waits for the compute lane (Backend::bind). Source: core/program (actions, instructions).
/// Not modelled: how the routing shares out rows among ranks; equal shares are planned (buffer_places.h). Checked
/// against: tests/runtime/execution/step_memory_threads_test.cpp (nothing is reserved in a step; every layout).

#include <map>

#include "runtime/execution/buffer_places.h"

namespace plumbline {

class Executor;
class ParameterStore;
struct ExecutionPlan;
struct RankDevice;
struct RankShare;

class StepMemory {
 public:
  /// Reserves what steps of `executor` need.
  StepMemory(const ExecutionPlan& plan, const RankShare& share, RankDevice& device, const ParameterStore& parameters,
             Executor& executor);

  [[nodiscard]] const StepPlan& of_step() const { return of_step_; }
  /// Of an evaluation of the first `micro_batches`; reserves what it needs beyond a step.
  [[nodiscard]] const StepPlan& of_forwards(std::int32_t micro_batches);

 private:
  template <class Walk>
  [[nodiscard]] StepPlan rehearsed(Walk walk) const;

  const ExecutionPlan& plan_;
  const RankShare& share_;
  RankDevice& device_;
  const ParameterStore& parameters_;
  Executor& executor_;
  StepPlan of_step_;
  std::map<std::int32_t, StepPlan> of_forwards_;  ///< by micro-batches
};

}  // namespace plumbline
