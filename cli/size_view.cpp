#include "cli/size_view.h"

#include <algorithm>

#include "cli/plan_view.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "planner/present/plan_words.h"
#include "planner/present/search_words.h"
#include "planner/present/size_tables.h"

namespace plumbline {
namespace {

using session::SizeAnswer;
using session::SizeRow;

std::string line(const std::string& words) { return words.empty() ? "" : wrapped(words, terminal_columns(), 2) + "\n"; }

std::string heading_text(const SizeAnswer& answer) {
  const auto found = std::find_if(answer.rows.begin(), answer.rows.end(), [](const SizeRow& row) { return row.plan; });
  if (found == answer.rows.end()) return "";
  return line(present::size_question_words(answer)) + line(present::basis_words(*found->plan)) +
         line(present::framework_words(answer.framework)) + trust_text(*found->plan) + "\n";
}

std::string scaling_text(const SizeAnswer& answer, session::Scaling scaling) {
  std::string text = line(present::scaling_words(answer, scaling));
  if (text.empty()) return text;
  const present::Table table = present::size_table(answer, scaling);
  if (!table.rows.empty()) text += plumbline::text(table) + "\n";
  return text + plumbline::text(present::size_plan_table(answer, scaling)) + "\n";
}

std::string remarks_text(const SizeAnswer& answer) {
  const auto any = [&](const auto& holds) { return std::any_of(answer.rows.begin(), answer.rows.end(), holds); };
  std::string text;
  if (any([](const SizeRow& row) { return row.meets != session::Meets::no; }))
    text += "* within the limits as expected, ** at the upper end of the interval too\n";
  if (any([](const SizeRow& row) { return row.plan && row.plan->verdict.near_edge; }))
    text += "! the margin is within the uncertainty of the memory estimate\n";
  if (!answer.complete) text += "Interrupted: the rows so far, the last of them the best so far.\n";
  return text;
}

std::string assumptions_text(const SizeAnswer& answer) {
  std::string text = "It rests on:\n";
  for (const std::string& words : present::size_assumptions(answer))
    text += "  " + wrapped(words, terminal_columns(), 4, 2) + "\n";
  return text;
}

}  // namespace

std::string size_text(const SizeAnswer& answer) {
  std::string text = heading_text(answer);
  const bool has_any = !text.empty();
  for (const session::Scaling scaling : answer.request.scalings) text += scaling_text(answer, scaling);
  if (!has_any)
    return text + (answer.complete ? "Nothing fits on any of these.\n" : "Interrupted before a plan was found.\n");
  const std::string found = remarks_text(answer) + line(present::size_answer_words(answer));
  return text + found + (found.empty() ? "" : "\n") + assumptions_text(answer);
}

}  // namespace plumbline
