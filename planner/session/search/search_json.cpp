#include "planner/session/search/search_json.h"

#include "core/io/json_array.h"
#include "core/io/plan_json.h"
#include "core/io/strategy_json.h"
#include "core/io/training_json.h"

namespace plumbline::session {
namespace {

Json question_json(const SearchAnswer& answer) {
  const SearchRequest& request = answer.request;
  const QuestionText& text = request.question;
  const auto text_json = [](auto value) { return to_text(value); };
  const auto flash_json = [](FlashAttention value) { return Json(value == FlashAttention::on); };
  const auto& gradients = text.training.gradient_format;
  return Json::Object{
      {"model", text.model},
      {"machine", text.machine},
      {"devices", text.devices},
      {"training", to_json(text.training)},
      {"precisions", json_array(request.recipes.precisions, text_json)},
      {"gradient_precision", gradients ? Json(to_text(*gradients)) : Json()},
      {"optimizer", to_text(text.training.optimizer)},
      {"optimizers", json_array(request.recipes.optimizers, text_json)},
      {"lora_ranks", json_array(request.recipes.lora_ranks)},
      {"flash_attention", json_array(request.flash_attention, flash_json)},
      {"stack", text.stack},
      {"tensor_parallel_across_nodes", text.tensor_parallel_across_nodes},
      {"headroom", Json::Object{{"share", text.headroom.share}, {"bytes", text.headroom.bytes.value()}}},
      {"objective", to_text(request.objective)},
      {"fixed", request.fixes}};
}

Json rejected_json(const SearchAudit& audit) {
  Json::Object rejected;
  for (const auto& [rule, count] : audit.illegal) rejected.emplace_back(rule, count);
  rejected.emplace_back("memory", audit.memory);
  rejected.emplace_back("bound", audit.bound);
  rejected.emplace_back("dominated", audit.dominated);
  rejected.emplace_back("infeasible", audit.infeasible);
  return rejected;
}

Json point_json(const RankedStrategy& point, const Training& training) {
  Training priced = training;
  priced.precision = point.precision;
  priced.gradient_format = point.gradient_format;
  priced.optimizer = point.optimizer;
  return Json::Object{{"step_time_s", to_seconds(point.ranking_step()).value()},
                      {"peak_memory_bytes", point.peak_memory.value()},
                      {"devices", point.devices},
                      {"strategy", to_json(point.strategy, priced)},
                      {"lora_rank", point.lora_rank}};
}

Json points_json(const std::vector<RankedStrategy>& points, const Training& training) {
  return json_array(points, [&](const RankedStrategy& point) { return point_json(point, training); });
}

/// Null where plans are not ranked by time or there are not two of them.
Json ties_json(const SearchAnswer& answer) {
  const Ties& ties = answer.ties;
  if (ties.noise <= 0) return {};
  return Json::Object{{"tied", static_cast<std::int64_t>(ties.tied)},
                      {"simplest", static_cast<std::int64_t>(ties.simplest) + 1},
                      {"noise", ties.noise},
                      {"expected_regret", ties.regret}};
}

/// Of a search for a framework; what its limits cost is null where it is not known.
Json framework_json(const SearchAnswer& answer) {
  Json::Object object{{"name", to_text(answer.framework.framework)},
                      {"is_default", !answer.framework.is_asked_for},
                      {"lifted", answer.framework.lifted},
                      {"without_limits", Json()}};
  if (!answer.without_limits) return object;
  if (!answer.without_limits->plan) {
    object.back().second = Json::Object{{"gains", false}};
    return object;
  }
  const Plan& plan = *answer.without_limits->plan;
  const Prediction& p = plan.prediction;
  object.back().second =
      Json::Object{{"gains", true},
                   {"step_time_s", p.simulated_step ? p.simulated_step->value() : p.step_time_s.expected},
                   {"strategy", to_json(plan.strategy, plan.training)},
                   {"inexpressible", json_array(answer.without_limits->inexpressible)}};
  return object;
}

Json next_stack_json(const std::optional<NextStack>& next) {
  if (!next) return {};
  return Json::Object{{"stack", next->stack},
                      {"was_measured", next->was_measured},
                      {"step_time_s", next->step_time.value()},
                      {"step_ratio", next->step_ratio},
                      {"fits", next->fits}};
}

}  // namespace

Json to_json(const SearchAnswer& answer) {
  const Training& training = answer.request.question.training;
  const auto plan_json = [](const Plan& plan) { return to_json(plan); };
  // Of each plan those that are like it.
  const auto equivalent_json = [&](const std::vector<RankedStrategy>& others) { return points_json(others, training); };
  Json::Object object{{"format", search_format},
                      {"question", question_json(answer)},
                      {"considered", answer.result.audit.total},
                      {"rejected", rejected_json(answer.result.audit)},
                      {"solved", answer.result.audit.solved},
                      {"unvisited", answer.result.audit.unvisited},
                      {"refined", answer.result.audit.refined},
                      {"plans", json_array(answer.plans, plan_json)},
                      {"alike", json_array(answer.result.equivalent, equivalent_json)},
                      {"standing", ties_json(answer)},
                      {"pareto", points_json(answer.result.pareto, training)},
                      {"complete", answer.result.complete},
                      {"nearest_miss", answer.nearest_miss ? to_json(*answer.nearest_miss) : Json()}};
  object.emplace_back("framework", framework_json(answer));
  object.emplace_back("best_of_others", json_array(answer.best_of_others, plan_json));
  object.emplace_back("next_stack", next_stack_json(answer.next_stack));
  return object;
}

}  // namespace plumbline::session
