#include "cli/validate_view.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/table.h"
#include "cli/terminal.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

constexpr std::size_t most_shown = 12;

std::string percent(double fraction) { return fixed(100 * fraction, 1) + " %"; }
std::string signed_percent(double fraction) { return (fraction > 0 ? "+" : "") + percent(fraction); }

void add_series(Table& table, const std::string& name, const SeriesSummary& s) {
  if (s.n == 0) return;
  table.add_row({name, std::to_string(s.n), percent(s.mape), signed_percent(s.bias), percent(s.median), percent(s.p90),
                 signed_percent(s.worst), s.n < 3 ? "" : fixed(s.spearman, 3), percent(s.coverage)});
}

using Part = SeriesSummary ValidationSummary::*;

std::string series_text(const Validation& validation, const std::string& title, Part part) {
  Table table({{title, Align::left},
               {"n", Align::right},
               {"MAPE", Align::right},
               {"bias", Align::right},
               {"median", Align::right},
               {"p90", Align::right},
               {"worst", Align::right},
               {"Spearman", Align::right},
               {"covered", Align::right}});
  for (const std::string& source : sources_of(validation))
    add_series(table, source, summarize(validation, source).*part);
  if (table.empty()) return "";
  add_series(table, "all", summarize(validation).*part);
  return table.text(terminal_columns) + "\n";
}

std::string value_text(const RowOutcome& row, double value) {
  return row.kind == RowKind::time ? to_text(Seconds(value)) : to_text(Bytes(static_cast<std::int64_t>(value)));
}

std::string worst_text(const Validation& validation) {
  std::vector<const RowOutcome*> rows;
  for (const RowOutcome& row : validation.rows)
    if (row.kind != RowKind::fit && row.trust == RowTrust::trusted) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const RowOutcome* a, const RowOutcome* b) {
    return std::abs(a->pair.error()) > std::abs(b->pair.error());
  });
  if (rows.size() > most_shown) rows.resize(most_shown);
  if (rows.empty()) return "";
  Table table({{"furthest off", Align::left}, {"kind", Align::left}, {"measured"}, {"predicted"}, {"error"}});
  for (const RowOutcome* row : rows)
    table.add_row({row->id, std::string(to_text(row->kind)), value_text(*row, row->pair.measured),
                   value_text(*row, row->pair.predicted.expected), signed_percent(row->pair.error())});
  return table.text(terminal_columns) + "\n";
}

std::string fit_text(const Validation& validation) {
  const ValidationSummary summary = summarize(validation);
  std::string text;
  if (summary.fit.n > 0) {
    text += "fits or not: " + std::to_string(summary.fit.right) + " of " + std::to_string(summary.fit.n) + " right";
    for (const RowOutcome& row : validation.rows)
      if (row.kind == RowKind::fit && !row.is_right())
        text += "\n  " + row.id + ": " + value_text(row, row.pair.predicted.expected) + " predicted of " +
                value_text(row, row.pair.measured) + ", yet it " + (row.measured_fits ? "ran" : "ran out of memory") +
                (row.doubt.empty() ? "" : " (not counted: it contradicts its neighbours)");
    text += "\n";
  }
  if (summary.ran.n > 0)
    text += "runs that did fit and are predicted not to: " + std::to_string(summary.ran.predicted_not_to) + " of " +
            std::to_string(summary.ran.n) + "\n";
  return text;
}

std::string skipped_text(const Validation& validation) {
  if (validation.skipped.empty()) return "";
  Table table({{"rows skipped", Align::right}, {"because", Align::left}});
  for (const auto& [reason, count] : skip_reasons(validation)) table.add_row({std::to_string(count), reason});
  return "\n" + table.text(terminal_columns);
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values)
    text += (text.empty() ? "" : " or ") + (value.empty() ? "unpublished" : value);
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> skip_reasons(const Validation& validation) {
  std::map<std::string, std::int64_t> counts;
  for (const SkippedRow& row : validation.skipped)
    ++counts[row.reason.starts_with("a repetition of") ? "a repetition of another run" : row.reason];
  std::vector<std::pair<std::string, std::int64_t>> reasons(counts.begin(), counts.end());
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

std::string validation_text(const Validation& validation) {
  std::string text = series_text(validation, "step time", &ValidationSummary::time);
  text += series_text(validation, "peak memory", &ValidationSummary::memory);
  text += series_text(validation, "time, inferred", &ValidationSummary::time_inferred);
  text += series_text(validation, "memory, inferred", &ValidationSummary::memory_inferred);
  text += series_text(validation, "time, doubtful", &ValidationSummary::time_doubtful);
  text += series_text(validation, "memory, doubtful", &ValidationSummary::memory_doubtful);
  return text + worst_text(validation) + fit_text(validation) + skipped_text(validation);
}

std::string rules_text(const RowRuleTable& table) {
  std::string text = wrapped(table.description, terminal_columns, 0) + "\n";
  for (const RowRule& rule : table.rules) {
    std::string line;
    for (const RowCondition& condition : rule.when)
      line += (line.empty() ? "" : ", ") + condition.field + " " + joined(condition.values);
    std::string then;
    for (const auto& [field, value] : rule.then) then += (then.empty() ? "" : ", ") + field + " " + value;
    text += "\n" + line + "\n  -> " + (rule.skip.empty() ? then : "skipped: " + rule.skip) + "\n     " +
            wrapped(rule.source, terminal_columns, 5, 5) + "\n";
  }
  return text;
}

}  // namespace plumbline
