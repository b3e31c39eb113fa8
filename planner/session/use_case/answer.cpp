#include "planner/session/use_case/answer.h"

#include "core/base/errors.h"
#include "core/io/plan_json.h"
#include "planner/present/plan_columns.h"
#include "planner/present/plan_tables.h"
#include "planner/present/plan_words.h"
#include "planner/session/plan_file.h"

namespace plumbline::session {

std::string PricedPlan::json() const {
  return to_json_text(asked ? with_chosen(to_json(plan), *asked) : to_json(plan));
}

std::string PricedPlan::file_text() const { return asked ? plan_text(*request, *asked) : plan_text(plan); }

std::vector<std::string> PricedPlan::sentences() const {
  const std::string fits(present::fit_words(present::fit_of(plan.verdict)));
  std::vector<std::string> all{present::question_words(plan), present::strategy_words(plan.strategy, plan.training)};
  if (asked && !asked->chosen.empty()) all.push_back(asked->chosen);
  for (std::string words : {present::basis_words(plan), present::throughput_words(plan),
                            "peak memory " + present::peak_words(plan.prediction), fits + ": " + plan.verdict.reason})
    all.push_back(std::move(words));
  return all;
}

present::Table PricedPlan::table(const std::string& name) const {
  if (name == "time") return present::time_table(plan.prediction.time);
  if (name == "memory_shown") return present::memory_table(plan.prediction, present::shown_stages(plan.prediction));
  if (name == "memory") {
    std::vector<std::size_t> stages(plan.prediction.stage_memory.size());
    for (std::size_t i = 0; i < stages.size(); ++i) stages[i] = i;
    return present::memory_table(plan.prediction, stages);
  }
  check(name == "plan", "a plan has a table for each name that Python asks for");
  return whole_table<Plan>(present::plan_columns(), {plan});
}

SharedPlan shared(Plan plan) { return std::make_shared<const PricedPlan>(PricedPlan{std::move(plan), {}, {}}); }

SharedPlan priced(const EstimateRequest& request) {
  PricedQuestion asked = estimate(request);
  Plan plan = asked.plan;
  return std::make_shared<const PricedPlan>(PricedPlan{std::move(plan), request, std::move(asked)});
}

}  // namespace plumbline::session
