// A validation as tables and JSON.
#include "planner/session/validate/validate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/io/prediction_json.h"
#include "core/quantity/text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_words.h"

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

std::string beyond_mark(const RunOutcome& row) {
  if (row.confidence.beyond.empty()) return "";
  return row.confidence.is_far ? "far" : "outside";
}

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
               {"error", "error", Unit::per_cent, "predicted over measured"},
               {"beyond", "measured near", Unit::text,
                "whether the run lies outside of the runs behind its calibration: outside, or far", Align::left}},
              {}};
  for (const RunOutcome* row : rows)
    table.rows.push_back({words(row->id),
                          words(to_text(row->kind)),
                          {value_text(*row, row->pair.measured), row->pair.measured},
                          {value_text(*row, row->pair.predicted.expected), row->pair.predicted.expected},
                          signed_share(row->pair.error()),
                          words(beyond_mark(*row))});
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

namespace plumbline {
namespace {

Json series_json(const SeriesSummary& s) {
  return Json::Object{{"n", s.n},     {"mape", s.mape},   {"bias", s.bias},         {"median", s.median},
                      {"p90", s.p90}, {"worst", s.worst}, {"spearman", s.spearman}, {"coverage", s.coverage}};
}

Json summary_json(const ValidationSummary& s) {
  return Json::Object{{"time", series_json(s.time)},
                      {"memory", series_json(s.memory)},
                      {"fit", Json::Object{{"n", s.fit.n}, {"right", s.fit.right}, {"doubtful", s.fit.doubtful}}},
                      {"time_inferred", series_json(s.time_inferred)},
                      {"time_doubtful", series_json(s.time_doubtful)},
                      {"memory_inferred", series_json(s.memory_inferred)},
                      {"memory_doubtful", series_json(s.memory_doubtful)},
                      {"ran", Json::Object{{"n", s.ran.n}, {"predicted_not_to", s.ran.predicted_not_to}}}};
}

/// A fit run measures whether it fitted; its error is 0 when that was predicted, else how far over the device's memory
/// (above 0) or below it (below 0) the prediction lies.
Json measured_of(const RunOutcome& run) {
  return run.kind == RunKind::fit ? Json(run.measured_fits) : Json(run.pair.measured);
}
double error_of(const RunOutcome& run) { return run.kind == RunKind::fit && run.is_right() ? 0 : run.pair.error(); }

Json row_json(const RunOutcome& run) {
  Json::Object object{{"id", run.id},
                      {"kind", to_text(run.kind)},
                      {"measured", measured_of(run)},
                      {"predicted", to_json(run.pair.predicted)},
                      {"error", error_of(run)},
                      {"source", run.source},
                      {"trust", to_text(run.trust)},
                      {"predicted_fits", run.predicted_fits},
                      {"device", run.device},
                      {"stack", run.stack},
                      {"regime", run.regime},
                      {"strategy", run.strategy}};
  if (run.held_out) object.emplace_back("held_out", true);
  if (!run.doubt.empty()) object.emplace_back("doubt", run.doubt);
  if (const std::string warning = present::trust_words(run.confidence); !warning.empty())
    object.emplace_back("warning", warning);
  Json::Object assumed;
  for (const AssumedField& field : run.assumed) assumed.emplace_back(field.field, field.value);
  object.emplace_back("assumed", std::move(assumed));
  return object;
}

}  // namespace

Json to_json(const Validation& validation) {
  Json::Array runs;
  for (const RunOutcome& run : validation.runs) runs.push_back(row_json(run));
  Json::Array skipped;
  for (const SkippedRun& run : validation.skipped)
    skipped.push_back(
        Json::Object{{"id", run.id}, {"kind", to_text(run.kind)}, {"reason", run.reason}, {"source", run.source}});
  Json::Object by_source;
  for (const std::string& source : sources_of(validation))
    by_source.emplace_back(source, summary_json(summarize(validation, source)));
  Json::Array unread;
  for (const UnreadKey& key : validation.unread) {
    Json::Object entry{{"key", key.key}};
    if (!key.nearest.empty()) entry.emplace_back("nearest", key.nearest);
    unread.push_back(std::move(entry));
  }
  return Json::Object{{"format", "plumbline.validation/1"},
                      {"rows", std::move(runs)},
                      {"skipped", std::move(skipped)},
                      {"unread_keys", std::move(unread)},
                      {"summary", summary_json(summarize(validation))},
                      {"summary_fitted", summary_json(summarize(fitted_part(validation)))},
                      {"summary_held_out", summary_json(summarize(held_out_part(validation)))},
                      {"by_source", std::move(by_source)}};
}

}  // namespace plumbline
