#include "planner/session/fit/fit_json.h"

#include "core/io/json_array.h"
#include "core/io/plan_json.h"
#include "core/io/prediction_json.h"
#include "core/io/strategy_json.h"
#include "planner/session/search/changes_json.h"

namespace plumbline::session {
namespace {

Json question_json(const FitLimits& answer) {
  const QuestionText& text = answer.request.question;
  return Json::Object{
      {"model", text.model},
      {"family", answer.request.family},
      {"machine", text.machine},
      {"devices", text.devices},
      {"sequence_length", text.training.sequence_length},
      {"headroom", Json::Object{{"share", text.headroom.share}, {"bytes", text.headroom.bytes.value()}}},
      {"strategy", answer.request.strategy ? "given" : "any"},
      {"framework", answer.request.strategy ? Json() : Json(to_text(answer.framework.framework))}};
}

Json beyond_json(const FitLimit& limit) {
  if (!limit.beyond) return {};
  const bool is_model = limit.kind == LimitKind::model;
  return Json::Object{{"value", is_model ? Json(limit.beyond->model) : Json(limit.beyond->value)},
                      {"reason", limit.beyond->reason}};
}

Json value_json(const FitLimit& limit) {
  if (!limit.plan) return {};
  return limit.kind == LimitKind::model ? Json(limit.plan->model.name) : Json(limit.value);
}

Json sure_json(const FitLimit& limit) {
  if (!limit.sure) return {};
  const bool is_model = limit.kind == LimitKind::model;
  return Json::Object{{"value", is_model ? Json(limit.sure->plan.model.name) : Json(limit.sure->value)},
                      {"plan", to_json(limit.sure->plan)}};
}

Json limit_json(const FitLimit& limit) {
  return Json::Object{{"kind", to_text(limit.kind)},
                      {"value", value_json(limit)},
                      {"plan", limit.plan ? to_json(*limit.plan) : Json()},
                      {"sure", sure_json(limit)},
                      {"beyond", beyond_json(limit)},
                      {"note", limit.note}};
}

Json remedy_json(const Remedy& remedy) {
  const Plan& plan = remedy.plan;
  return Json::Object{{"flags", remedy.flags},
                      {"strategy", to_json(plan.strategy, plan.training)},
                      {"step_time_s", to_json(plan.prediction.step_time_s)},
                      {"peak_memory_bytes", plan.prediction.peak_memory.value()}};
}

}  // namespace

Json to_json(const FitAnswer& answer, const Plan& from) {
  return Json::Object{{"framework", answer.fits ? Json() : Json(to_text(answer.framework.framework))},
                      {"changes", changes_json(answer.changes, from)},
                      {"remedies", json_array(answer.remedies, remedy_json)},
                      {"complete", answer.complete}};
}

Json fit_json(const Plan& plan, const FitAnswer& answer) {
  Json::Object object = *to_json(plan).if_object();
  object.emplace_back("offers", to_json(answer, plan));
  return object;
}

Json to_json(const FitLimits& answer) {
  Json::Array limits;
  for (const FitLimit& limit : answer.limits) limits.push_back(limit_json(limit));
  return Json::Object{{"format", fit_limits_format},
                      {"question", question_json(answer)},
                      {"limits", std::move(limits)},
                      {"complete", answer.complete}};
}

}  // namespace plumbline::session
