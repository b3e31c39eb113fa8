#include "planner/session/search/changes_json.h"

#include "core/io/json_array.h"
#include "core/io/prediction_json.h"
#include "core/io/strategy_json.h"
#include "planner/session/import/import.h"

namespace plumbline::session {

Json change_json(const Change& change, const Plan& from) {
  const Prediction& p = change.plan.prediction;
  return Json::Object{{"change", plumbline::to_text(change.steps)},
                      {"flags", json_array(strategy_flags(change.strategy))},
                      {"strategy", to_json(change.strategy, change.plan.training)},
                      {"step_time_s", to_json(p.step_time_s)},
                      {"step_time_change", p.step_time_s.expected / from.prediction.step_time_s.expected - 1},
                      {"peak_memory_bytes", p.peak_memory.value()},
                      {"margin_bytes", change.plan.verdict.margin.value()},
                      {"fits", change.plan.verdict.fits},
                      {"near_edge", change.plan.verdict.near_edge}};
}

Json changes_json(const std::vector<Change>& changes, const Plan& from) {
  return json_array(changes, [&](const Change& change) { return change_json(change, from); });
}

}  // namespace plumbline::session
