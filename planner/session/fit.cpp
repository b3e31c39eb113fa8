#include "planner/session/fit.h"

namespace plumbline::session {

FitAnswer fit(const PricedQuestion& asked, const Task& task) {
  FitAnswer answer;
  answer.fits = asked.plan.verdict.fits;
  if (answer.fits) return answer;
  answer.changes = cheapest_changes(asked.question, asked.strategy, usual_changes, task);
  answer.complete = !task.is_stopped();
  task.end("changes");
  return answer;
}

}  // namespace plumbline::session
