#include "planner/session/search/next_stack.h"

#include <algorithm>

#include "planner/pricing/evaluate.h"

namespace plumbline::session {

std::optional<NextStack> next_stack(const Question& question, const Plan& plan) {
  if (!question.has_usual_stack()) return std::nullopt;
  const std::vector<StackCandidate>& all = question.usual_stack().candidates;
  const auto next = std::find_if(all.begin(), all.end(), [&](const StackCandidate& one) {
    return one.stack != question.calibration().stack.name;
  });
  if (next == all.end()) return std::nullopt;
  QuestionText text = question.text();
  text.stack = next->stack;
  const Plan other = evaluate(Question(text, question.network(), question.cluster()), plan.strategy);
  if (!is_priceable(other)) return std::nullopt;
  const double step = other.prediction.step_time_s.expected;
  return NextStack{next->stack, Seconds(step), step / plan.prediction.step_time_s.expected, other.verdict.fits,
                   next->was_measured};
}

}  // namespace plumbline::session
