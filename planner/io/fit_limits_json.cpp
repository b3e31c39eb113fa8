#include "planner/io/fit_limits_json.h"

#include "core/io/plan_json.h"

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

}  // namespace

Json to_json(const FitLimits& answer) {
  Json::Array limits;
  for (const FitLimit& limit : answer.limits) limits.push_back(limit_json(limit));
  return Json::Object{{"format", fit_limits_format},
                      {"question", question_json(answer)},
                      {"limits", std::move(limits)},
                      {"complete", answer.complete}};
}

}  // namespace plumbline::session
