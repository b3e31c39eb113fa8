#include "gui/pages/plans/ranked_plans.h"

#include <algorithm>

#include "core/quantity/text.h"
#include "planner/present/numbers.h"
#include "planner/pricing/run_bill.h"
#include "planner/session/estimate.h"

namespace plumbline::gui {
namespace {

/// What the plan was priced with.
BillTerms terms_of(const Plan& plan) {
  BillTerms terms;
  const Prediction& p = plan.prediction;
  const double device_hours = static_cast<double>(plan.machine.devices) * p.step_time_s.expected / seconds_per_hour;
  if (p.dollars_per_step > 0)
    terms.price_per_device_hour = {Dollars(p.dollars_per_step / device_hours), "as priced", SourceKind::published, ""};
  return terms;
}

Plan priced_plan(const RankedStrategy& ranked, const Question& question) {
  Plan plan = session::signed_plan(question, ranked.strategy);
  if (ranked.ranking_step() != ranked.step_time) plan.prediction.simulated_step = to_seconds(ranked.ranking_step());
  return plan;
}

std::string number_text(double number) {
  const std::string text = present::decimal(number, 2).text;
  const std::size_t last = text.find_last_not_of('0');
  return text.substr(0, text[last] == '.' ? last : last + 1);
}

}  // namespace

std::vector<RankedPlan> folded_plans(const session::SearchAnswer& answer) {
  std::vector<RankedPlan> plans;
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    const bool is_known = i < answer.result.equivalent.size();
    plans.push_back(
        {answer.plans[i], i, 0, is_known ? static_cast<std::int64_t>(answer.result.equivalent[i].size()) : 0});
  }
  return plans;
}

std::vector<RankedPlan> unfolded_plans(const session::SearchAnswer& answer, const StopRequest& stop) {
  const session::PreparedSearch prepared = session::prepare_search(answer.request);
  std::vector<RankedPlan> plans;
  for (const RankedPlan& first : folded_plans(answer)) {
    plans.push_back(first);
    if (first.equivalent == 0) continue;
    for (const RankedStrategy& like : answer.result.equivalent[first.place]) {
      if (stop.stop_requested()) return plans;
      plans.push_back({priced_plan(like, prepared.questions[like.question]), first.place, plans.back().like + 1, 0});
    }
  }
  return plans;
}

std::vector<RunFigures> run_figures(const std::vector<RankedPlan>& plans, const session::RunLimits& limits) {
  std::vector<RunFigures> runs;
  for (const RankedPlan& ranked : plans) {
    if (!ranked.plan.training.token_budget) return {};
    const RunBill bill = run_bill(ranked.plan, terms_of(ranked.plan));
    RunFigures run{bill.days.expected, bill.dollars ? bill.dollars->value() : 0, true};
    run.keeps_limits = (!limits.days || run.days <= *limits.days) &&
                       (!limits.budget || (bill.dollars && run.dollars <= limits.budget->value()));
    runs.push_back(run);
  }
  return runs;
}

std::string limit_words(const session::RunLimits& limits) {
  std::string words;
  if (limits.days) words = number_text(*limits.days) + " days";
  if (limits.budget) words += (words.empty() ? "" : " and ") + present::dollars_text(limits.budget->value());
  return words;
}

std::string kept_words(const std::vector<RunFigures>& runs, const session::RunLimits& limits) {
  if (!limits.any() || runs.empty()) return "";
  const auto kept = std::count_if(runs.begin(), runs.end(), [](const RunFigures& run) { return run.keeps_limits; });
  return grouped(kept) + " of " + grouped(static_cast<std::int64_t>(runs.size())) + " plans keep within " +
         limit_words(limits) + " as expected";
}

}  // namespace plumbline::gui
