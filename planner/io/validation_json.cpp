#include "planner/io/validation_json.h"

#include "core/io/prediction_json.h"

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

/// A fit row measures whether it fitted; its error is 0 when that was predicted, else how far over the device's memory
/// (above 0) or below it (below 0) the prediction lies.
Json measured_of(const RowOutcome& row) {
  return row.kind == RowKind::fit ? Json(row.measured_fits) : Json(row.pair.measured);
}
double error_of(const RowOutcome& row) { return row.kind == RowKind::fit && row.is_right() ? 0 : row.pair.error(); }

Json row_json(const RowOutcome& row) {
  Json::Object object{{"id", row.id},
                      {"kind", to_text(row.kind)},
                      {"measured", measured_of(row)},
                      {"predicted", to_json(row.pair.predicted)},
                      {"error", error_of(row)},
                      {"source", row.source},
                      {"trust", to_text(row.trust)},
                      {"predicted_fits", row.predicted_fits},
                      {"device", row.device},
                      {"stack", row.stack},
                      {"regime", row.regime},
                      {"strategy", row.strategy}};
  if (!row.doubt.empty()) object.emplace_back("doubt", row.doubt);
  Json::Object assumed;
  for (const AssumedField& field : row.assumed) assumed.emplace_back(field.field, field.value);
  object.emplace_back("assumed", std::move(assumed));
  return object;
}

}  // namespace

Json to_json(const Validation& validation) {
  Json::Array rows;
  for (const RowOutcome& row : validation.rows) rows.push_back(row_json(row));
  Json::Array skipped;
  for (const SkippedRow& row : validation.skipped)
    skipped.push_back(
        Json::Object{{"id", row.id}, {"kind", to_text(row.kind)}, {"reason", row.reason}, {"source", row.source}});
  Json::Object by_source;
  for (const std::string& source : sources_of(validation))
    by_source.emplace_back(source, summary_json(summarize(validation, source)));
  return Json::Object{{"format", "plumbline.validation/1"},
                      {"rows", std::move(rows)},
                      {"skipped", std::move(skipped)},
                      {"summary", summary_json(summarize(validation))},
                      {"by_source", std::move(by_source)}};
}

}  // namespace plumbline
