#include "cli/fit/fit_limits_view.h"

#include <algorithm>

#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "planner/present/plan_words.h"
#include "planner/session/fit/fit_tables.h"

namespace plumbline {
namespace {

std::string line(const std::string& words) { return wrapped(words, terminal_columns(), 2) + "\n"; }

}  // namespace

std::string fit_limits_text(const session::FitLimits& answer) {
  const auto found = std::find_if(answer.limits.begin(), answer.limits.end(),
                                  [](const session::FitLimit& limit) { return limit.plan.has_value(); });
  std::string text;
  if (found != answer.limits.end())
    text += line(present::fit_limits_question_words(answer)) + line(present::basis_words(*found->plan)) +
            trust_text(*found->plan);
  text += line(present::fit_limits_assumption_words(answer)) + "\n" +
          plumbline::text(present::fit_limits_table(answer)) + "\nWhat does not fit any more:\n";
  for (const std::string& words : present::beyond_words(answer))
    text += "  " + wrapped(words, terminal_columns(), 4, 2) + "\n";
  if (std::any_of(answer.limits.begin(), answer.limits.end(),
                  [](const session::FitLimit& limit) { return limit.plan && !limit.sure; }))
    text += "! the margin is within the uncertainty of the memory estimate; --headroom keeps clear of it\n";
  if (!answer.complete) text += "Interrupted: only the limits found so far.\n";
  return text;
}

std::string remedies_text(const std::vector<session::Remedy>& remedies) {
  if (remedies.empty())
    return line(
        "No plan fits, nor would one on more GPUs, with adapters or with shorter sequences: a smaller model would.");
  return line("No plan of this question fits; each of these alone would make one surely fit:") +
         plumbline::text(present::remedy_table(remedies));
}

}  // namespace plumbline
