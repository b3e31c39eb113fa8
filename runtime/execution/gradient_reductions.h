#pragma once
/// \file gradient_reductions.h: one rank's gradients, summed over ranks as the actions of its program name them.
///
/// Model: an action names the units that it scatters or reduces (RankProgram::units), and exactly these are. What was
/// made for a micro-batch (ZeRO-2 and 3) is scattered before its buffer is needed again, though the action that names
/// it is still to come: other stacks collect more gradients than there are buffers here, or leave a part of the last
/// ones to the step's end. Gradients that no action names are our bug: no optimizer step may follow.
/// Source: core/program/reduction_pass.cpp. Not modelled: reductions alongside a backward.
/// Checked against: tests/runtime/execution/strategies_test.cpp (buckets, late shares), reductions_test.cpp (dropped
/// ones).

#include "core/program/program.h"
#include "runtime/execution/gradient_sums.h"

namespace plumbline {

class GradientReductions {
 public:
  /// `executions`: of the network.
  GradientReductions(GradientSums& gradients, const RankProgram& rank, std::size_t executions);

  void begin_step();
  /// Before the weight gradients of a unit are made.
  void open(std::int32_t unit, UnitSlot slot);
  /// One micro-batch's gradients of a unit are made, and wait to be scattered.
  void wait_for_scatter(std::int32_t unit) { unscattered_.push_back(unit); }
  /// All gradients of a unit in the step are made.
  void wait_for_reduction(std::int32_t unit) { of(unit).waits_for_reduction = true; }
  void run(const Action& action);
  /// What each tensor-parallel rank made from its own tokens or heads.
  void run_partial();
  /// Throws InternalError where an optimizer step would take gradients that are not sums over all ranks.
  void require_complete() const;

 private:
  struct OfUnit {
    std::int32_t scatters_to_come = 0;  ///< actions of the step that name it
    std::int32_t scattered_early = 0;   ///< for as many of them nothing is left to do
    bool waits_for_reduction = false;
  };
  [[nodiscard]] OfUnit& of(std::int32_t unit) { return units_[static_cast<std::size_t>(unit)]; }
  void scatter(const Action& action);
  void scatter_waiting(std::vector<std::int32_t>::iterator unit);
  /// The first that wait, until no more than `most_waiting` do.
  void scatter_early(std::size_t most_waiting);
  /// Scatters a unit before its own action. The data lane has not had that action's waits, so it waits for all passes
  /// so far.
  void scatter_early(std::vector<std::int32_t>::iterator unit);
  void reduce(const Action& action);
  [[nodiscard]] bool releases(const Action& action) const;
  [[nodiscard]] std::string name(std::int32_t unit) const;

  GradientSums& gradients_;
  const RankProgram& rank_;
  std::vector<OfUnit> units_;              ///< by execution
  std::vector<std::int32_t> unscattered_;  ///< in the order in which they were made
  bool has_summed_partial_ = false;
  bool has_summed_tied_ = false;
};

}  // namespace plumbline
