#pragma once
/// \file step_scalars.h: loss, tokens and gradients' health of a step, added up and decided upon in the device's
/// memory.
///
/// Answers: the device's decision, which an update reads; the sums of all ranks, for the host. Model: each rank's
/// device adds its own; they are gathered on the compute lane, where a kernel decides, so that the host waits once,
/// behind the step. What the gathering sends no prediction counts. Source: kernels/step_decision.h. Checked against:
/// tests/runtime/execution/synchronisation_threads_test.cpp (one wait a step), tests/cuda/step_waits_test.cpp (that
/// wait is behind the update).

#include <span>

#include "kernels/step_decision.h"
#include "runtime/communication/communicator.h"
#include "runtime/execution/backend.h"

namespace plumbline {

class StepScalars {
 public:
  StepScalars(Communicator& everyone, Backend& memory, ComputeDevice& device);

  /// What the first step begins with.
  void set(const StepState& state);
  void begin();
  /// This rank's, in the device's memory.
  [[nodiscard]] StepTotals* own() const { return all_ + everyone_.index(); }
  /// In the device's memory; work of the compute lane behind `decide` reads it.
  [[nodiscard]] const StepDecision* decision() const { return decision_; }
  /// The factor on the step's loss, in the device's memory.
  [[nodiscard]] const double* loss_scale() const { return &state_->loss_scale.scale; }
  /// Every rank calls it once a step, behind its gradients. `stop_signal`: that ends this rank's run; 0: none. Sums and
  /// state leave for the host behind it.
  void decide(const LossScaleRule& rule, double clip_norm, std::int64_t stop_signal);
  // What the last `decide` came to. Behind a wait for all lanes.
  [[nodiscard]] std::span<const StepTotals> totals() const { return {on_host_totals(), rank_count()}; }  ///< by rank
  [[nodiscard]] const StepState& state() const { return *reinterpret_cast<const StepState*>(on_host_.get()); }
  /// This rank's sums so far. Waits for all lanes.
  [[nodiscard]] StepTotals read_own();

 private:
  [[nodiscard]] std::size_t rank_count() const { return static_cast<std::size_t>(everyone_.rank_set().size()); }
  [[nodiscard]] Bytes size() const {
    return Bytes(static_cast<std::int64_t>(sizeof(StepState) + rank_count() * sizeof(StepTotals)));
  }
  [[nodiscard]] StepTotals* on_host_totals() const {
    return reinterpret_cast<StepTotals*>(on_host_.get() + sizeof(StepState));
  }

  Communicator& everyone_;
  ComputeDevice& device_;
  StepState* state_;  ///< in the device's memory, as what follows
  StepTotals* all_;   ///< right behind it, so that one copy reads both
  StepDecision* decision_;
  DeviceMemory on_host_;
};

}  // namespace plumbline
