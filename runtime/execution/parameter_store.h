#pragma once
/// \file parameter_store.h: a rank's weights, gradients and optimizer state, and what is done with them.
///
/// Model: one part for each use; all work on the same flat buffers. Buffers that other lanes use are given up, or used
/// again, once those have run. Checked against: tests/runtime/execution (numbers and bytes of every strategy).

#include "runtime/execution/gradient_sums.h"
#include "runtime/execution/optimizer_update.h"
#include "runtime/execution/parameter_state.h"
#include "runtime/execution/weight_gathers.h"

namespace plumbline {

class ParameterStore {
 public:
  ParameterStore(ParameterLayout layout, const Strategy& strategy, const Training& training, RankGroups& groups,
                 Backend& backend, ComputeDevice& device)
      : memory(std::move(layout), strategy, training, groups, backend, device),
        weights(memory),
        gradients(memory),
        optimizer(memory),
        state(memory) {}
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  ParameterMemory memory;
  WeightGathers weights;
  GradientSums gradients;
  OptimizerUpdate optimizer;
  ParameterState state;

  [[nodiscard]] const ParameterLayout& layout() const { return memory.layout; }
  /// What ranks share of the weights is gathered before it is read again.
  void update(const UpdateNumbers& numbers, const std::function<void()>& decide) {
    optimizer.run(numbers, decide);
    weights.mark_updated();
  }
};

}  // namespace plumbline
