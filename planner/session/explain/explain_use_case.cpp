// An explanation, asked by flags or of a plan.
#include "core/io/json.h"
#include "planner/present/plan_tables.h"
#include "planner/session/explain/explain.h"
#include "planner/session/explain/explanation_json.h"
#include "planner/session/flags/asked_plan.h"

namespace plumbline::session {
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
                  answer.remark = priced.remark;
                  return answer;
                },
                {}};
  };
  return use_case;
}

}  // namespace plumbline::session
