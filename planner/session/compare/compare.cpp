#include "planner/session/compare/compare.h"

namespace plumbline::session {

SimulatedPlan simulated_as_run(const PricedQuestion& asked) {
  SimulationOptions options;
  options.granularity = Granularity::block;
  options.scattering = Scattering::by_unit;
  return simulated(asked.question, asked.strategy, options);
}

std::optional<Comparison> compare(const PricedQuestion& asked, const RunRecord& record, const std::string& record_name,
                                  const Task& task) {
  const Graph& graph = asked.question.graph();
  require_same_plan(asked.plan, graph, record, record_name);
  if (task.is_stopped()) return std::nullopt;
  const SimulatedPlan simulated = simulated_as_run(asked);
  if (task.is_stopped()) return std::nullopt;
  const StackCalibration& stack = asked.question.calibration().stack;
  Comparison comparison =
      plumbline::compare(asked.plan, graph, simulated, record, apart_from_tensors(asked.plan.strategy, stack, record));
  comparison.device = device_lines(asked.plan, stack, record);
  return comparison;
}

}  // namespace plumbline::session
