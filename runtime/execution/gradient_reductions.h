#pragma once
/// \file gradient_reductions.h: one rank's gradients, summed over ranks as the actions of its program name them.
///
/// Model: an action names the units that it scatters or reduces (RankProgram::units), and exactly these are. Whole
/// gradients (ZeRO-2 and 3) have two buffers, so that a program scatters each unit's when they are made
/// (scattered_by_unit), or those of a chunk have one until its last backward. Gradients that no action names are our
/// bug: no optimizer step may follow. Source: core/program/reduction_pass.cpp. Not modelled: buckets of several units
/// whose gradients are sharded. Checked against: tests/runtime/execution/strategies_test.cpp (buckets, late shares),
/// reductions_test.cpp (dropped ones).

#include <algorithm>

#include "core/program/program.h"
#include "runtime/execution/gradient_sums.h"

namespace plumbline {

class GradientReductions {
 public:
  /// `executions`: of the network.
  GradientReductions(GradientSums& gradients, const RankProgram& rank, std::size_t executions);

  void begin_step();
  /// Before the weight gradients of an execution are made.
  void open(std::int32_t execution, UnitSlot slot);
  /// One micro-batch's gradients of an execution are made. If its unit is named by it, all of the unit's are, and wait
  /// to be scattered: the first of several layers is the last in a backward.
  void wait_for_scatter(std::int32_t execution) {
    if (is_trained(execution) && !is_unscattered(execution)) unscattered_.push_back(execution);
  }
  /// All gradients of an execution in the step are made; likewise of its unit.
  void wait_for_reduction(std::int32_t execution) { waits(execution) = true; }
  /// Of a GradientReduction: scatters those of one micro-batch, sums those of the step.
  void run(const Action& action);
  /// Of an embedding at both ends of the pipeline.
  void run_tied();
  /// What each tensor-parallel rank made from its own tokens or heads.
  void run_partial();
  /// Throws InternalError where an optimizer step would take gradients that are not sums over all ranks.
  void require_complete() const;

 private:
  [[nodiscard]] std::vector<bool>::reference waits(std::int32_t unit) {
    return waits_for_reduction_[static_cast<std::size_t>(unit)];
  }
  /// Any of it; a frozen unit may be named with the trained one behind it. Nothing of what names no unit.
  [[nodiscard]] bool is_trained(std::int32_t unit) const {
    return gradients_.layout().units[static_cast<std::size_t>(unit)].trained > 0;
  }
  [[nodiscard]] bool is_unscattered(std::int32_t unit) const {
    return std::find(unscattered_.begin(), unscattered_.end(), unit) != unscattered_.end();
  }
  void scatter(const Action& action);
  /// Gives up what the action releases.
  void release(const Action& action);
  [[noreturn]] void fail_unscattered() const;
  void reduce(const Action& action);
  [[nodiscard]] bool releases(const Action& action) const;
  [[nodiscard]] std::string name(std::int32_t unit) const;

  GradientSums& gradients_;
  const RankProgram& rank_;
  std::vector<std::vector<std::int32_t>> trained_units_;  ///< by chunk
  std::vector<std::int32_t> chunk_of_;                    ///< by execution; -1: of another rank
  std::vector<bool> waits_for_reduction_;                 ///< by execution
  std::vector<std::int32_t> unscattered_;                 ///< in the order in which they were made
  bool has_summed_partial_ = false;
  bool has_summed_tied_ = false;
};

}  // namespace plumbline
