#include "planner/session/explain/explanation_json.h"

#include "core/io/json_array.h"
#include "core/io/plan_json.h"
#include "planner/session/search/changes_json.h"

namespace plumbline::session {
namespace {

Json number_json(const Sensitivity& s) {
  return Json::Object{{"name", s.number.name},           {"value", s.number.value},
                      {"source", s.number.source},       {"relative_sigma", s.relative_sigma},
                      {"step_time_change", s.step_time}, {"peak_memory_change", s.peak_memory}};
}

}  // namespace

Json to_json(const Explanation& explanation) {
  Json::Object object{{"plan", to_json(explanation.plan)},
                      {"bottleneck", explanation.bottleneck},
                      {"changes", changes_json(explanation.changes, explanation.plan)},
                      {"assumed", json_array(explanation.assumed, number_json)}};
  if (explanation.against) object.emplace_back("against", to_json(*explanation.against));
  return object;
}

}  // namespace plumbline::session
