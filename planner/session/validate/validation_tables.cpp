#include "planner/session/validate/validation_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::present {
namespace {

Cell share(double fraction) { return per_cent_cell(fraction); }
Cell signed_share(double fraction) { return {signed_share_text(fraction), 100 * fraction}; }

void add_series(Table& table, const std::string& name, const SeriesSummary& s) {
  if (s.n == 0) return;
  table.rows.push_back({words(name), whole(s.n), share(s.mape), signed_share(s.bias), share(s.median), share(s.p90),
                        signed_share(s.worst), s.n < 3 ? words("") : decimal(s.spearman, 3), share(s.coverage)});
}

}  // namespace

std::string share_text(double fraction) { return per_cent_text(fraction); }
std::string signed_share_text(double fraction) { return (fraction > 0 ? "+" : "") + share_text(fraction); }

std::string value_text(const RunOutcome& row, double value) {
  return row.kind == RunKind::time ? to_text(Seconds(value)) : to_text(Bytes(static_cast<std::int64_t>(value)));
}

Table series_table(const Validation& validation, const std::string& title, Series series) {
  Table table{{{"source", title, Unit::text, "where the measured runs are from", Align::left},
               {"n", "n", Unit::number, "measured runs", Align::right},
               {"mape", "MAPE", Unit::per_cent, "mean of the magnitude of the error", Align::right},
               {"bias", "bias", Unit::per_cent, "mean of the error with its sign", Align::right},
               {"median", "median", Unit::per_cent, "median of the magnitude", Align::right},
               {"p90", "p90", Unit::per_cent, "nine of ten errors are smaller", Align::right},
               {"worst", "worst", Unit::per_cent, "the largest error", Align::right},
               {"spearman", "Spearman", Unit::number, "how well the order of the runs is predicted", Align::right},
               {"coverage", "covered", Unit::per_cent, "runs inside of the predicted interval", Align::right}},
              {}};
  for (const std::string& source : sources_of(validation))
    add_series(table, source, summarize(validation, source).*series);
  if (!table.rows.empty()) add_series(table, "all", summarize(validation).*series);
  return table;
}

Table furthest_table(const Validation& validation, std::size_t most) {
  std::vector<const RunOutcome*> rows;
  for (const RunOutcome& row : validation.runs)
    if (row.kind != RunKind::fit && row.trust == RunTrust::trusted) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const RunOutcome* a, const RunOutcome* b) {
    return std::abs(a->pair.error()) > std::abs(b->pair.error());
  });
  if (rows.size() > most) rows.resize(most);
  Table table{{{"id", "furthest off", Unit::text, "the measured run", Align::left},
               {"kind", "kind", Unit::text, "step time or peak memory", Align::left},
               {"measured", "measured", Unit::text, "seconds or bytes that were measured"},
               {"predicted", "predicted", Unit::text, "seconds or bytes that are predicted"},
               {"error", "error", Unit::per_cent, "predicted over measured"}},
              {}};
  for (const RunOutcome* row : rows)
    table.rows.push_back({words(row->id),
                          words(to_text(row->kind)),
                          {value_text(*row, row->pair.measured), row->pair.measured},
                          {value_text(*row, row->pair.predicted.expected), row->pair.predicted.expected},
                          signed_share(row->pair.error())});
  return table;
}

Table skipped_table(const Validation& validation) {
  Table table{{{"rows", "rows skipped", Unit::number, "measured runs that were not predicted", Align::right},
               {"reason", "because", Unit::text, "why not", Align::left}},
              {}};
  for (const auto& [reason, count] : skip_reasons(validation)) table.rows.push_back({whole(count), words(reason)});
  return table;
}

std::vector<std::pair<std::string, std::int64_t>> skip_reasons(const Validation& validation) {
  std::map<std::string, std::int64_t> counts;
  std::set<std::tuple<std::string, std::string, std::string>> counted;  // a run of several kinds is one row
  for (const SkippedRun& row : validation.skipped) {
    const std::string reason = row.reason.starts_with("a repetition of") ? "a repetition of another run" : row.reason;
    if (counted.emplace(row.source, row.id, reason).second) ++counts[reason];
  }
  std::vector<std::pair<std::string, std::int64_t>> reasons(counts.begin(), counts.end());
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

}  // namespace plumbline::present
