#include "planner/search/ties.h"

#include <algorithm>
#include <cmath>

#include "planner/search/complexity.h"

namespace plumbline {
namespace {

/// Beyond so many standard deviations nothing is left to sum.
constexpr double farthest = 8;
constexpr int parts = 4000;

/// That a plan's logarithm of time is above `x`.
double survival(const PredictedStep& plan, double x) {
  const double distance = x - std::log(plan.step_s);
  if (plan.own_sigma <= 0) return distance < 0 ? 1 : 0;
  return 0.5 * std::erfc(distance / plan.own_sigma / std::sqrt(2.));
}

double survival_of_all(const std::vector<PredictedStep>& plans, double x) {
  double product = 1;
  for (const PredictedStep& plan : plans) product *= survival(plan, x);
  return product;
}

/// Another optimizer or rank of adapters is another training, not a simpler plan.
bool trains_equally(const Training& one, const Training& other) {
  return one.optimizer == other.optimizer && one.adaptation == other.adaptation;
}

PredictedStep predicted(const Plan& plan) {
  const Prediction& p = plan.prediction;
  return {p.simulated_step ? p.simulated_step->value() : p.step_time_s.expected,
          own_error_share * plan.provenance.trust.time_sigma};
}

bool is_tied(const PredictedStep& first, const PredictedStep& other) {
  return std::log(other.step_s / first.step_s) <= noise_between(first, other);
}

/// Among the plans that are tied and those that they stand for, where these are tied too: some are slower for nothing.
void find_simplest(Ties& ties, const std::vector<Plan>& plans,
                   const std::vector<std::vector<RankedStrategy>>& equivalent) {
  const PredictedStep first = predicted(plans[0]);
  auto least = complexity(plans[0].strategy, plans[0].prediction.peak_memory);
  const auto consider = [&](std::size_t row, const Strategy& strategy, Bytes peak) {
    const auto found = complexity(strategy, peak);
    if (found >= least) return false;
    least = found;
    ties.simplest = row;
    return true;
  };
  for (std::size_t i = 0; i < ties.tied; ++i) {
    if (!trains_equally(plans[i].training, plans[0].training)) continue;
    if (consider(i, plans[i].strategy, plans[i].prediction.peak_memory)) ties.simplest_like.reset();
    if (i >= equivalent.size()) continue;
    for (const RankedStrategy& other : equivalent[i])
      if (is_tied(first, {to_seconds(other.ranking_step()).value(), predicted(plans[i]).own_sigma}) &&
          consider(i, other.strategy, other.peak_memory))
        ties.simplest_like = other.strategy;
  }
}

}  // namespace

double noise_between(const PredictedStep& one, const PredictedStep& other) {
  return std::hypot(one.own_sigma, other.own_sigma);
}

// E[X_1] - E[min] is the area of 1 - S left of E[X_1] less the area of S right of it, S being the survival of the
// minimum.
double expected_regret(const std::vector<PredictedStep>& plans) {
  if (plans.size() < 2) return 0;
  const double first = std::log(plans.front().step_s);
  double reach = 0;
  for (const PredictedStep& plan : plans)
    reach = std::max(reach, farthest * plan.own_sigma + std::abs(std::log(plan.step_s) - first));
  const double width = reach / parts;
  double gain = 0;
  for (int i = 0; i < parts; ++i) {
    const double distance = (i + 0.5) * width;
    gain += width * (1 - survival_of_all(plans, first - distance) - survival_of_all(plans, first + distance));
  }
  return std::expm1(std::max(0., gain));
}

Ties ties_of(const std::vector<Plan>& plans, const std::vector<std::vector<RankedStrategy>>& equivalent) {
  Ties ties;
  if (plans.size() < 2) return ties;
  std::vector<PredictedStep> steps;
  for (const Plan& plan : plans)
    if (plan.verdict.near_edge == plans.front().verdict.near_edge &&
        plan.machine.devices == plans.front().machine.devices)
      steps.push_back(predicted(plan));
    else
      break;
  if (steps.size() < 2) return ties;
  ties.noise = noise_between(steps[0], steps[1]);
  ties.regret = expected_regret(steps);
  while (ties.tied < steps.size() && is_tied(steps[0], steps[ties.tied])) ++ties.tied;
  find_simplest(ties, plans, equivalent);
  return ties;
}

}  // namespace plumbline
