#pragma once
/// \file step_tokens.h: token ids and targets of a step's micro-batches on the host, where the device fetches them.
///
/// Model: page-locked memory with a place for each micro-batch, the same in every step, so that a recorded copy of it
/// reads the tokens of the step at hand (step_graph.h). The host writes each place once per step,
/// before the first copy from it is enqueued, and not again until it has waited for that step to end.
/// Checked against: tests/cuda/graph_training_test.cpp, tests/runtime/execution.

#include <algorithm>
#include <vector>

#include "core/base/errors.h"
#include "runtime/device/compute_device.h"

namespace plumbline {

/// Of one micro-batch on this rank: its slice of every sequence.
struct LocalIds {
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> targets;
};

class StepTokens {
 public:
  /// `tokens`: of a micro-batch on this rank.
  StepTokens(ComputeDevice& device, std::int64_t micro_batches, std::int64_t tokens)
      : tokens_(tokens), memory_(device.reserve_host(bytes() * micro_batches)), is_here_(at(micro_batches)) {}

  void begin_step() { std::fill(is_here_.begin(), is_here_.end(), false); }
  [[nodiscard]] bool has(std::int32_t micro_batch) const { return is_here_[at(micro_batch)]; }
  void put(std::int32_t micro_batch, const LocalIds& ids) {
    check(std::ssize(ids.tokens) == tokens_ && std::ssize(ids.targets) == tokens_, "a micro-batch has its tokens");
    std::int32_t* const behind = std::copy(ids.tokens.begin(), ids.tokens.end(), place(micro_batch));
    std::copy(ids.targets.begin(), ids.targets.end(), behind);
    is_here_[at(micro_batch)] = true;
  }
  /// Tokens, then targets.
  [[nodiscard]] const std::int32_t* of(std::int32_t micro_batch) const { return place(micro_batch); }
  /// Of a micro-batch.
  [[nodiscard]] Bytes bytes() const { return Bytes(2 * tokens_ * static_cast<std::int64_t>(sizeof(std::int32_t))); }

 private:
  [[nodiscard]] static std::size_t at(std::int64_t micro_batch) { return static_cast<std::size_t>(micro_batch); }
  [[nodiscard]] std::int32_t* place(std::int32_t micro_batch) const {
    return reinterpret_cast<std::int32_t*>(memory_.get()) + 2 * tokens_ * micro_batch;
  }

  std::int64_t tokens_;
  DeviceMemory memory_;
  std::vector<bool> is_here_;  ///< by micro-batch
};

}  // namespace plumbline
