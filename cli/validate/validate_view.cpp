#include "cli/validate/validate_view.h"

#include <algorithm>

#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "planner/session/validate/validate.h"

namespace plumbline {
namespace {

std::string series_text(const Validation& validation, const std::string& title, present::Series series) {
  const present::Table table = present::series_table(validation, title, series);
  return table.rows.empty() ? "" : text(table) + "\n";
}

std::string worst_text(const Validation& validation) {
  const present::Table table = present::furthest_table(validation);
  if (table.rows.empty()) return "";
  const bool is_marked = std::any_of(table.rows.begin(), table.rows.end(),
                                     [](const std::vector<present::Cell>& row) { return !row.back().text.empty(); });
  return text(table) +
         (is_marked
              ? wrapped("outside: in some respect outside of the runs behind its calibration; far: by a factor of "
                        "two or more, or of another kind (--json: warning)",
                        terminal_columns(), 0) +
                    "\n"
              : "") +
         "\n";
}

std::string fit_text(const Validation& validation) {
  const ValidationSummary summary = summarize(validation);
  std::string text;
  if (summary.fit.n > 0) {
    text += "fits or not: " + std::to_string(summary.fit.right) + " of " + std::to_string(summary.fit.n) + " right";
    for (const RunOutcome& run : validation.runs)
      if (run.kind == RunKind::fit && !run.is_right())
        text += "\n  " + run.id + ": " + present::value_text(run, run.pair.predicted.expected) + " predicted of " +
                present::value_text(run, run.pair.measured) + ", yet it " +
                (run.measured_fits ? "ran" : "ran out of memory") +
                (run.doubt.empty() ? "" : " (not counted: its own source contradicts it or leaves it open)");
    text += "\n";
  }
  if (summary.ran.n > 0)
    text += "runs that did fit and are predicted not to: " + std::to_string(summary.ran.predicted_not_to) + " of " +
            std::to_string(summary.ran.n) + "\n";
  return text;
}

std::string skipped_text(const Validation& validation) {
  return validation.skipped.empty() ? "" : "\n" + text(present::skipped_table(validation));
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values)
    text += (text.empty() ? "" : " or ") + (value.empty() ? "unpublished" : value);
  return text;
}

}  // namespace

std::string unread_keys_text(const std::set<UnreadKey>& keys) {
  constexpr std::size_t most_keys = 12;
  constexpr std::size_t longest_key = 60;
  std::string text;
  std::size_t shown = 0;
  for (const UnreadKey& key : keys) {
    if (++shown > most_keys) break;
    text += (text.empty() ? "" : ", ") + key.key.substr(0, longest_key) +
            (key.nearest.empty() ? "" : " (nearest: " + key.nearest + ")");
  }
  if (keys.size() > most_keys) text += " and " + std::to_string(keys.size() - most_keys) + " more";
  return "keys that are not read: " + text;
}

namespace {

/// The tables by source of runs that a fit may have read, or of those that none has.
std::string all_series_text(const Validation& validation, const std::string& of) {
  std::string text = series_text(validation, "step time" + of, &ValidationSummary::time);
  text += series_text(validation, "peak memory" + of, &ValidationSummary::memory);
  text += series_text(validation, "time, inferred" + of, &ValidationSummary::time_inferred);
  text += series_text(validation, "memory, inferred" + of, &ValidationSummary::memory_inferred);
  text += series_text(validation, "time, doubtful" + of, &ValidationSummary::time_doubtful);
  text += series_text(validation, "memory, doubtful" + of, &ValidationSummary::memory_doubtful);
  return text;
}

}  // namespace

std::string validation_text(const Validation& validation) {
  return all_series_text(fitted_part(validation), "") +
         all_series_text(held_out_part(validation), ", held out of fits") + worst_text(validation) +
         fit_text(validation) + skipped_text(validation);
}

std::string rules_text(const RunRuleTable& table) {
  std::string text = wrapped(table.description, terminal_columns(), 0) + "\n";
  for (const RunRule& rule : table.rules) {
    std::string line;
    for (const RunCondition& condition : rule.when)
      line += (line.empty() ? "" : ", ") + condition.field + " " + joined(condition.values);
    std::string then;
    for (const auto& [field, value] : rule.then) then += (then.empty() ? "" : ", ") + field + " " + value;
    text += "\n" + line + "\n  -> " + (rule.skip.empty() ? then : "skipped: " + rule.skip) + "\n     " +
            wrapped(rule.source, terminal_columns(), 5, 5) + "\n";
  }
  return text;
}

}  // namespace plumbline
