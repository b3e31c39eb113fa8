#include "planner/question/simulated.h"

#include "core/base/errors.h"
#include "core/program/buffer_check.h"
#include "planner/question/priced.h"

namespace plumbline {

namespace {

/// The strategy as prices read it: they ask the schedule where stages lie, so a schedule stands in that places them as
/// the order does.
Strategy placed_as(const ComputeSchedule& order, Strategy strategy) {
  if (placement(strategy.schedule) == order.placement) return strategy;
  const bool looped = order.placement == StagePlacement::looped;
  strategy.schedule = looped ? Schedule::interleaved : Schedule::zbv;
  return strategy;
}

}  // namespace

PlayedPlan played(const Question& question, const Strategy& asked, const PlayOptions& options) {
  const ComputeSchedule order =
      options.order ? *options.order : compute_schedule(asked.schedule, pipeline_shape(asked));
  check(order.shape == pipeline_shape(asked), "an order is read against the strategy's shape");
  const Strategy strategy = placed_as(order, asked);
  const std::vector<BlockCost> blocks = block_costs(question, strategy);
  const StageLayout layout = layout_of(question, strategy);
  const StageTable ranks(question.graph(), layout, blocks);
  const StackCalibration& stack = question.calibration().stack;
  const PricedPlan plan{question.graph(), strategy, question.training(), stack, question.step_pricer(), ranks, blocks};
  const PieceTable pieces(plan, options.granularity);
  PlayedPlan result;
  result.sizes = lowering_input(plan, pieces, order);
  result.replays = replays_of(question.graph(), blocks, layout.arrangement.variants, strategy.recompute.mode);
  result.program = lower(result.sizes);
  if (const auto fault = buffer_fault(result.program)) check(false, *fault);
  const ActionTimes times = action_times(plan, pieces, result.program);
  result.simulation = simulate(result.program, times, stack.fragmentation_fraction, options.timeline);
  return result;
}

}  // namespace plumbline
