#include "planner/session/validate/validation_json.h"

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
  if (!run.doubt.empty()) object.emplace_back("doubt", run.doubt);
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
                      {"by_source", std::move(by_source)}};
}

}  // namespace plumbline
