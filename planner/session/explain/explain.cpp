#include "planner/session/explain/explain.h"

#include "planner/explain/bottleneck.h"

namespace plumbline::session {

Explanation explain(const PricedQuestion& asked, const std::optional<Plan>& against, const Task& task) {
  Explanation answer;
  answer.plan = asked.plan;
  answer.against = against;
  answer.bottleneck = bottleneck_sentence(asked.plan);
  answer.changes = single_steps(asked.question, asked.strategy, task);
  task.end("changes");
  answer.assumed = assumed_numbers_that_matter(asked.question, asked.strategy, task);
  task.end("assumed numbers");
  answer.complete = !task.is_stopped();
  return answer;
}

}  // namespace plumbline::session
