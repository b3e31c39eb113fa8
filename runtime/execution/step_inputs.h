#pragma once
/// \file step_inputs.h: the numbers that a step is given and the step before was not, in the device's memory.
///
/// Answers: where kernels read the learning rate and the seed of a step's draws, so that they have the same arguments
/// in every step and a step can be recorded once (step_graph.h). Source: kernels/optimizer_state.h, kernels/philox.h.
/// Checked against: tests/cuda/graph_training_test.cpp, tests/runtime/execution.

#include "runtime/execution/backend.h"

namespace plumbline {

struct StepNumbers {
  std::uint64_t seed = 0;  ///< of run and step: what is dropped, and how weights are rounded
  float learning_rate = 0;
};

class StepInputs {
 public:
  StepInputs(Backend& memory, ComputeDevice& device)
      : device_(device), numbers_(static_cast<StepNumbers*>(memory.reserve(Bytes(sizeof(StepNumbers))))) {}

  /// Of what the compute lane is given from here on.
  void set(const StepNumbers& numbers) { device_.upload(Stream::compute, numbers_, &numbers, Bytes(sizeof numbers)); }
  // In the device's memory.
  [[nodiscard]] const std::uint64_t* seed() const { return &numbers_->seed; }
  [[nodiscard]] const float* learning_rate() const { return &numbers_->learning_rate; }

 private:
  ComputeDevice& device_;
  StepNumbers* numbers_;
};

}  // namespace plumbline
