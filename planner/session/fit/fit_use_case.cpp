// The most that fits, asked by flags; and the changes that a plan which was priced needs.
#include "core/base/errors.h"
#include "core/io/value_text.h"
#include "planner/present/plan_tables.h"
#include "planner/session/fit/fit.h"
#include "planner/session/fit/fit_json.h"
#include "planner/session/fit/fit_limits.h"
#include "planner/session/fit/fit_tables.h"
#include "planner/session/flags/asked_plan.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::session {
namespace {

Answer shown_limits(const FitLimits& limits) {
  Answer answer;
  answer.json = to_json_text(to_json(limits));
  answer.tables["limits"] = present::fit_limits_table(limits);
  answer.sentences = present::beyond_words(limits);
  answer.warning = limits.warning;
  answer.complete = limits.complete;
  for (const FitLimit& limit : limits.limits) answer.plans.push_back(limit.plan ? shared(*limit.plan) : nullptr);
  answer.found = !answer.plans.empty();
  return answer;
}

}  // namespace

Answer shown_changes(const PricedPlan& plan, const FitOptions& options, const Task& task) {
  check(plan.asked.has_value(), "changes are asked of a strategy that was priced");
  const FitAnswer fit = session::fit(*plan.asked, task, options);
  Answer answer;
  answer.json = to_json_text(to_json(fit, plan.plan));
  for (const Change& change : fit.changes) {
    answer.changes.push_back(plumbline::to_text(change.steps));
    answer.plans.push_back(shared(change.plan));
  }
  for (const Remedy& remedy : fit.remedies) {
    answer.changes.push_back(remedy.words);
    answer.plans.push_back(shared(remedy.plan));
  }
  answer.tables["changes"] = present::change_table(plan.plan, fit.changes);
  answer.complete = fit.complete;
  answer.found = fit.complete;
  return answer;
}

UseCase fit_use_case() {
  struct Asked {
    AskedPlan plan;
    std::optional<std::string> framework;
  };
  const auto asked = std::make_shared<Asked>();
  UseCase use_case;
  asked->plan.bind(use_case.options);
  use_case.options.push_back(bound("--for", "NAME", asked->framework));
  use_case.work = [asked](const Inputs& inputs) {
    const EstimateRequest request = asked->plan.request(inputs.source);
    return Work{[asked, request](const Task& task) {
                  const auto plan = std::make_shared<PricedPlan>(*priced(request));
                  FitOptions options;
                  if (asked->framework)
                    options.framework = choice_of("--for", *asked->framework, all_frameworks, framework_from_text);
                  if (asked->plan.from) options.read_from = framework_from_text(*asked->plan.from);
                  plan->changes = [options](const PricedPlan& self, const Task& inner) {
                    return shown_changes(self, options, inner);
                  };
                  Answer answer;
                  answer.plans = {plan};
                  answer.warning = plan->asked->warning;
                  answer.found = !task.is_stopped();
                  return answer;
                },
                {}};
  };
  return use_case;
}

UseCase fit_limits_use_case() {
  struct Asked {
    QuestionFlags question;
    StrategyFlags strategy;
    std::optional<std::string> family;
  };
  const auto asked = std::make_shared<Asked>();
  UseCase use_case;
  bind_options(use_case.options, question_options(Recipes::one, DeviceCounts::one), asked->question);
  bind_options(use_case.options, asked->strategy);
  use_case.options.push_back(bound("--family", "NAME", asked->family));
  use_case.work = [asked](const Inputs& /*inputs*/) {
    FitLimitsRequest request = limits_request(asked->question, asked->strategy);
    request.family = asked->family.value_or("");
    return Work{[request](const Task& task) { return shown_limits(fit_limits(request, task)); }, {}};
  };
  return use_case;
}

}  // namespace plumbline::session
