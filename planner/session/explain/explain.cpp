#include "planner/session/explain/explain.h"

#include "core/io/json.h"
#include "core/io/json_array.h"
#include "core/io/plan_json.h"
#include "planner/explain/bottleneck.h"
#include "planner/present/plan_tables.h"
#include "planner/session/flags/asked_plan.h"
#include "planner/session/search/changes_json.h"

namespace plumbline::session {

Explanation explain(const PricedQuestion& asked, const std::optional<Plan>& against, const Task& task) {
  Explanation answer;
  answer.plan = asked.plan;
  answer.against = against;
  answer.bottleneck = bottleneck_sentence(asked.plan);
  answer.changes = single_steps(asked.question, asked.strategy, task);
  task.end("changes");
  answer.assumed = assumed_numbers_that_matter(asked.question, asked.strategy, task);
  task.end("assumed numbers");
  answer.complete = !task.is_stopped();
  return answer;
}

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

namespace {

Answer shown(const Explanation& explanation) {
  Answer answer;
  answer.json = to_json_text(to_json(explanation));
  answer.tables["changes"] = present::change_table(explanation.plan, explanation.changes);
  answer.tables["assumed"] = present::assumed_table(explanation.assumed);
  answer.tables["time"] = present::time_table(explanation.plan.prediction.time);
  if (explanation.against) answer.tables["against"] = present::difference_table(explanation.plan, *explanation.against);
  answer.sentences = {"Bottleneck: " + explanation.bottleneck + "."};
  answer.complete = explanation.complete;
  return answer;
}

}  // namespace

UseCase explain_use_case() {
  const auto asked = std::make_shared<AskedPlan>();
  UseCase use_case;
  asked->bind(use_case.options);
  use_case.options.push_back(input("--against"));
  use_case.work = [asked](const Inputs& inputs) {
    const EstimateRequest request = asked->request(inputs.source);
    std::optional<PlanRequest> other;
    if (inputs.against.plan || inputs.against.plan_file) other = plan_request(inputs.against);
    return Work{[request, other](const Task& task) {
                  const PricedQuestion priced = estimate(request);
                  std::optional<Plan> against;
                  if (other) against = estimate(*other).plan;
                  Answer answer = shown(explain(priced, against, task));
                  answer.warning = priced.warning;
                  return answer;
                },
                {}};
  };
  return use_case;
}

}  // namespace plumbline::session
