#include "planner/session/fit.h"

#include "planner/session/launchable.h"

namespace plumbline::session {

FitAnswer fit(const PricedQuestion& asked, const Task& task, Framework framework) {
  FitAnswer answer;
  answer.fits = asked.plan.verdict.fits;
  if (answer.fits) return answer;
  std::function<bool(const Strategy&)> allows;
  if (framework != Framework::any)
    allows = [&record = record_of(framework), network = network_facts_of(asked.question)](const Strategy& strategy) {
      return launches(record, strategy, network);
    };
  answer.changes = cheapest_changes(asked.question, asked.strategy, usual_changes, task, allows);
  answer.complete = !task.is_stopped();
  task.end("changes");
  return answer;
}

}  // namespace plumbline::session
