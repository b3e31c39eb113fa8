#pragma once
/// \file gradient_reductions.h: which units' gradients one rank reduces at which action of its program.
///
/// Model: an action's bytes say how many of the units that wait it reduces, in the order in which they were made. What
/// was made for a micro-batch (ZeRO-2 and 3) is scattered before its buffer is needed again, though the action that
/// lists it is still to come: other stacks collect more gradients than there are buffers here, or leave a part of the
/// last ones to the step's end. A program that lists too few bytes leaves units as they are.
/// Source: core/program/reduction_pass.cpp. Not modelled: reductions beside a backward.
/// Checked against: tests/runtime/execution/strategies_test.cpp (buckets, late shares), recipes_test.cpp (a dropped
/// one).

#include "core/program/program.h"
#include "runtime/execution/parameter_store.h"

namespace plumbline {

class GradientReductions {
 public:
  /// `executions`: of the network; the bytes of as many pieces are rounded.
  GradientReductions(ParameterStore& parameters, const RankProgram& rank, std::size_t executions)
      : parameters_(parameters), rank_(rank), rounding_(static_cast<std::int64_t>(executions)) {}

  void begin_step();
  /// Before the weight gradients of a unit are made.
  void open(std::int32_t unit);
  /// One micro-batch's gradients of a unit are made, and wait to be scattered.
  void wait_for_scatter(std::int32_t unit) { unscattered_.push_back(unit); }
  /// All gradients of a unit in the step are made.
  void wait_for_reduction(std::int32_t unit) { unreduced_.push_back(unit); }
  void run(const Action& action);

 private:
  void scatter_first();
  void scatter_early(std::size_t most_waiting);
  void scatter(const Action& action);
  void reduce(const Action& action);
  [[nodiscard]] bool releases(const Action& action) const;

  ParameterStore& parameters_;
  const RankProgram& rank_;
  Bytes rounding_;
  std::vector<std::int32_t> unscattered_;  ///< of this pass
  std::vector<std::int32_t> unreduced_;    ///< of this step
  Bytes scatter_credit_{0};
  Bytes scatters_to_come_{0};  ///< what the step's actions will still allow
  Bytes reduce_credit_{0};
};

}  // namespace plumbline
