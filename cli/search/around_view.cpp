#include "cli/search/around_view.h"

#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "core/quantity/text.h"
#include "planner/present/plan_words.h"
#include "planner/session/search/around_words.h"
#include "planner/session/search/search_words.h"

namespace plumbline {

std::string around_text(const session::AroundAnswer& answer, Objective objective, const Terminal& terminal) {
  const Plan& start = answer.start;
  std::string text = question_text(start) + strategy_text(start.strategy, start.training) +
                     wrapped(present::framework_words(answer.framework), terminal_columns(), 2) + "\n" +
                     trust_text(start) + "\n" + verdict_text(start, terminal) + "\n";
  if (!answer.nearby.empty()) text += changes_text(start, answer.nearby) + "\n";
  for (const std::string& sentence : present::around_words(answer, objective))
    text += wrapped(sentence, terminal_columns(), 2) + "\n";
  return text;
}

}  // namespace plumbline
