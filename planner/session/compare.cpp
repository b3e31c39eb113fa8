#include "planner/session/compare.h"

namespace plumbline::session {

PlayedPlan played_as_run(const PricedQuestion& asked) {
  PlayOptions options;
  options.granularity = Granularity::block;
  return played(asked.question, asked.strategy, options);
}

std::optional<Comparison> compare(const PricedQuestion& asked, const RunRecord& record, const std::string& record_name,
                                  const Task& task) {
  const Graph& graph = asked.question.graph();
  require_same_plan(asked.plan, graph, record, record_name);
  if (task.is_stopped()) return std::nullopt;
  const PlayedPlan played = played_as_run(asked);
  if (task.is_stopped()) return std::nullopt;
  return plumbline::compare(asked.plan, graph, played, record);
}

}  // namespace plumbline::session
