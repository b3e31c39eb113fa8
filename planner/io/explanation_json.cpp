#include "planner/io/explanation_json.h"

#include "core/io/json_array.h"
#include "core/io/plan_json.h"
#include "core/io/prediction_json.h"
#include "core/io/strategy_json.h"

namespace plumbline::session {
namespace {

Json number_json(const Sensitivity& s) {
  return Json::Object{{"name", s.number.name},           {"value", s.number.value},
                      {"source", s.number.source},       {"relative_sigma", s.relative_sigma},
                      {"step_time_change", s.step_time}, {"peak_memory_change", s.peak_memory}};
}

}  // namespace

Json change_json(const Change& change) {
  return Json::Object{{"change", to_text(change.steps)},
                      {"strategy", to_json(change.strategy, change.plan.training)},
                      {"step_time_s", to_json(change.plan.prediction.step_time_s)},
                      {"peak_memory_bytes", change.plan.prediction.peak_memory.value()},
                      {"fits", change.plan.verdict.fits}};
}

Json to_json(const Explanation& explanation) {
  Json::Object object{{"plan", to_json(explanation.plan)},
                      {"bottleneck", explanation.bottleneck},
                      {"changes", json_array(explanation.changes, change_json)},
                      {"assumed", json_array(explanation.assumed, number_json)}};
  if (explanation.against) object.emplace_back("against", to_json(*explanation.against));
  return object;
}

}  // namespace plumbline::session
