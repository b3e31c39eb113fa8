#include "cli/search/search_view.h"

#include <algorithm>

#include "cli/fit/fit_limits_view.h"
#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "core/quantity/text.h"
#include "planner/present/plan_columns.h"
#include "planner/present/plan_words.h"
#include "planner/present/sample_words.h"
#include "planner/session/search/case_tables.h"
#include "planner/session/search/search_words.h"

namespace plumbline {
namespace {

std::string audit_text(const SearchAudit& audit) {
  std::string text = wrapped(present::audit_words(audit), terminal_columns(), 2) + "\n";
  if (const std::string more = present::refinement_words(audit); !more.empty())
    text += wrapped(more, terminal_columns(), 2) + "\n";
  for (const std::string& rejection : present::rejections(audit))
    text += "  " + wrapped(rejection, terminal_columns(), 4, 2) + "\n";
  return text;
}

std::vector<std::int64_t> equivalent_counts(const SearchResult& result) {
  std::vector<std::int64_t> counts;
  for (const std::vector<RankedStrategy>& others : result.equivalent)
    counts.push_back(static_cast<std::int64_t>(others.size()));
  return counts;
}

std::string cost_text(const Plan& best) {
  return "The best plan takes " + present::run_words(best.run) + " for " + present::budget_words(best) + ".\n";
}

/// What a table leaves out for want of room or of difference.
std::string dropped_text(const RenderedTable& table) {
  std::string text;
  if (!table.in_all_rows.empty()) {
    text += "In all of them:";
    for (const std::string& value : table.in_all_rows)
      text += " " + value + (&value == &table.in_all_rows.back() ? "" : ",");
    text += "\n";
  }
  if (!table.left_out.empty()) {
    text += "No room for";
    for (const std::string& header : table.left_out) text += (&header == &table.left_out.front() ? " " : ", ") + header;
    text += "; a wider terminal (COLUMNS) and --json have " + std::string(table.left_out.size() == 1 ? "it" : "them") +
            ".\n";
  }
  return text;
}

std::string search_notes_text(const session::SearchAnswer& answer, const RenderedTable& table) {
  std::string text = dropped_text(table);
  if (const std::string placed = present::placement_words(answer.plans.front().layout); !placed.empty())
    text += wrapped("#1: " + placed, terminal_columns(), 2) + "\n";
  const auto near = [](const Plan& plan) { return plan.verdict.near_edge; };
  if (std::any_of(answer.plans.begin(), answer.plans.end(), near))
    text += "! the margin is within the uncertainty of the memory estimate\n";
  for (const std::string& words : present::recipe_words(answer)) text += wrapped(words, terminal_columns(), 2) + "\n";
  for (const std::string& words :
       {present::tie_words(answer), present::quality_words(answer.request.recipes), present::limits_words(answer)})
    if (!words.empty()) text += wrapped(words, terminal_columns(), 2) + "\n";
  if (!answer.result.complete) text += "Interrupted: the best so far, not the best there is.\n";
  return text;
}

}  // namespace

std::string heading_text(const session::SearchAnswer& answer) {
  const Plan& best = answer.plans.front();
  return question_text(best) + next_stack_text(answer.next_stack) +
         wrapped(present::framework_words(answer.framework), terminal_columns(), 2) + "\n" + trust_text(best);
}

std::string ranking_text(const session::SearchAnswer& answer, const Terminal& terminal) {
  const RenderedTable table =
      Table(present::plan_table(answer.plans, equivalent_counts(answer.result))).render(table_columns());
  std::string text = terminal.painted(table.lines.front(), Colour::bold) + "\n";
  for (std::size_t i = 1; i < table.lines.size(); ++i) text += table.lines[i] + "\n";
  text += search_notes_text(answer, table) + "\n" + audit_text(answer.result.audit);
  if (answer.request.question.training.token_budget) text += "\n" + cost_text(answer.plans.front());
  return text;
}

std::string cases_text(const session::CasesAnswer& answer) {
  std::string text;
  if (answer.has_any()) {
    const RenderedTable table = Table(present::case_table(answer)).render(table_columns());
    for (const std::string& line : table.lines) text += line + "\n";
    text += dropped_text(table);
  }
  for (const std::string& words : present::without_plan(answer)) text += wrapped(words, terminal_columns(), 2) + "\n";
  if (!answer.complete) text += "Interrupted: the values so far, the last of them the best so far.\n";
  return text;
}

std::string nothing_fits_text(const session::SearchAnswer& answer) {
  std::string text =
      answer.result.complete ? "No plan of this space fits.\n" : "Interrupted before a plan was found.\n";
  if (answer.nearest_miss) {
    const Plan& plan = *answer.nearest_miss;
    text += "Nearest: " + strategy_text(plan.strategy, plan.training) +
            wrapped(plan.verdict.reason, terminal_columns(), 2) + "\n";
  }
  if (answer.result.complete && answer.request.fixes.empty())
    text += "\n" + remedies_text(session::remedies(Question(answer.request.question), answer.request.framework));
  return text + "\n" + audit_text(answer.result.audit);
}

}  // namespace plumbline
