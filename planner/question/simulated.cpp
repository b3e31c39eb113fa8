#include "planner/question/simulated.h"

#include "core/base/errors.h"
#include "core/program/buffer_check.h"
#include "planner/question/priced.h"

namespace plumbline {

PlayedPlan played(const Question& question, const Strategy& strategy, Granularity granularity,
                  const TimelineOptions& options) {
  const std::vector<BlockCost> blocks = block_costs(question, strategy);
  const StageLayout layout = layout_of(question, strategy);
  const StageTable ranks(question.graph(), layout, blocks);
  const StackCalibration& stack = question.calibration().stack;
  const PricedPlan plan{question.graph(), strategy, question.training(), stack, question.step_pricer(), ranks, blocks};
  const PieceTable pieces(plan, granularity);
  PlayedPlan result;
  result.program = lower(lowering_input(plan, pieces));
  if (const auto fault = buffer_fault(result.program)) check(false, *fault);
  const ActionTimes times = action_times(plan, pieces, result.program);
  result.simulation = simulate(result.program, times, stack.fragmentation_fraction, options);
  return result;
}

}  // namespace plumbline
