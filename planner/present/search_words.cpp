#include "planner/present/search_words.h"

#include "core/plan/legality.h"
#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::present {
namespace {

std::string sentence_of(const std::string& id) {
  for (const Rule rule : all_rules)
    if (rule_id(rule) == id) return std::string(rule_sentence(rule));
  return "";
}

/// What an objective makes small.
struct Figure {
  std::string_view words;
  double (*value)(const Plan& plan);
};

double step_of(const Plan& plan) {
  const Prediction& p = plan.prediction;
  return p.simulated_step ? p.simulated_step->value() : p.step_time_s.expected;
}
double gpu_seconds_of(const Plan& plan) { return step_of(plan) * static_cast<double>(plan.machine.devices); }
double devices_of(const Plan& plan) { return static_cast<double>(plan.machine.devices); }
double memory_of(const Plan& plan) { return static_cast<double>(plan.prediction.peak_memory.value()); }

Figure figure_of(Objective objective) {
  switch (objective) {
    case Objective::step_time: return {"step time", step_of};
    case Objective::tokens_per_dollar: return {"GPU-seconds of a step", gpu_seconds_of};
    case Objective::fewest_gpus: return {"GPUs", devices_of};
    case Objective::least_memory: return {"peak memory", memory_of};
  }
  return {"step time", step_of};
}

}  // namespace

std::string audit_words(const SearchAudit& audit) {
  std::int64_t illegal = 0;
  for (const auto& [rule, count] : audit.illegal) illegal += count;
  std::string text = "considered " + grouped(audit.total) + " = " + grouped(illegal) + " illegal + " +
                     grouped(audit.memory) + " beyond memory + " + grouped(audit.bound) + " bounded away + " +
                     grouped(audit.dominated) + " dominated + " + grouped(audit.infeasible) + " infeasible + " +
                     grouped(audit.solved) + " priced";
  if (audit.unvisited > 0) text += " + " + grouped(audit.unvisited) + " not looked at";
  return text;
}

std::vector<std::string> rejections(const SearchAudit& audit) {
  std::vector<std::string> all;
  for (const auto& [rule, count] : audit.illegal) all.push_back(rule + " " + grouped(count) + ": " + sentence_of(rule));
  return all;
}

std::string framework_words(const session::SearchAnswer& answer) {
  if (!answer.without_limits || answer.plans.empty()) return "";
  const std::string name(record_of(answer.request.framework).title);
  const session::WithoutLimits& other = *answer.without_limits;
  if (other.inexpressible.empty()) return name + " can launch the best plan that there is.";
  const Figure figure = figure_of(answer.request.objective);
  std::string text = "Limits of " + name + ": " + std::string(figure.words) + " " +
                     difference_text(figure.value(answer.plans.front()), figure.value(other.plan)) + " against " +
                     to_text(other.plan.strategy);
  for (const std::string& sentence : other.inexpressible) text += "; " + sentence;
  return text + ".";
}

}  // namespace plumbline::present
