#include "planner/calibrate/framework_noise.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "planner/calibrate/informative_runs.h"
#include "planner/question/question.h"
#include "planner/validate/summary.h"

namespace plumbline {
namespace {

constexpr double upper_end_of_90_percent = 0.95;

double deviations_of(std::size_t frameworks) {
  if (frameworks < 3) return deviations_90_percent;  // nothing to learn a spread from
  const boost::math::students_t spread(static_cast<double>(frameworks - 1));
  return boost::math::quantile(spread, upper_end_of_90_percent);
}

std::vector<std::size_t> trusted_of(const FittedFrameworks& fitted, const std::vector<std::size_t>& members) {
  std::vector<std::size_t> kept;
  for (const std::size_t i : members)
    if (fitted.trusted[i]) kept.push_back(i);
  return kept;
}

LeftOutError error_of(const FittedFrameworks& fitted, const FitResult& result, std::size_t i) {
  const double open = result.variance(fitted.problem.observations[i].unknowns, result.gradients[i]);
  return {result.log_predicted[i] - fitted.problem.observations[i].log_measured,
          open + fitted.class_noise[i] * fitted.class_noise[i]};
}

double covering_sigma(const std::vector<std::vector<LeftOutError>>& frameworks) {
  constexpr double covered = 0.9;
  std::vector<double> magnitudes;
  for (const std::vector<LeftOutError>& errors : frameworks)
    for (const LeftOutError& error : errors) magnitudes.push_back(std::abs(error.error));
  return quantile(std::move(magnitudes), covered) / deviations_90_percent;
}

/// The fit without a framework, recalibrated on some of its runs, all to first order.
FitResult recalibrated(const FittedFrameworks& fitted, const FitResult& without, const Knowledge& known,
                       const std::vector<std::size_t>& chosen, const FitOptions& options) {
  const auto log_predicted = [&](std::size_t i, std::span<const double> x) {
    const std::vector<std::uint32_t>& unknowns = fitted.problem.observations[i].unknowns;
    double value = without.log_predicted[i];
    for (std::size_t a = 0; a < unknowns.size(); ++a)
      value += without.gradients[i][a] * (x[unknowns[a]] - without.unknowns[unknowns[a]]);
    return value;
  };
  FewObservations few;
  for (const std::size_t i : chosen) few.observations.push_back(fitted.problem.observations[i]);
  few.predict = [&](std::size_t i, std::span<const double> x) { return log_predicted(chosen[i], x); };
  FitOptions linear = options;
  linear.progress = {};
  linear.threads = 1;
  FitResult moved = fit(recalibration(known, fitted.space, std::move(few)), linear);
  moved.gradients = without.gradients;
  moved.log_predicted.clear();
  for (std::size_t i = 0; i < without.log_predicted.size(); ++i)
    moved.log_predicted.push_back(log_predicted(i, moved.unknowns));
  return moved;
}

std::vector<LeftOutError> errors_after_few(const FittedFrameworks& fitted, const FitResult& without,
                                           const std::vector<std::size_t>& runs, const FitOptions& options) {
  const Knowledge known = with_devices_held(knowledge_of(without), fitted.space);
  std::vector<LogSensitivity> candidates;
  for (const std::size_t i : runs)
    candidates.push_back({fitted.problem.observations[i].unknowns, without.gradients[i]});
  const RemainingUncertainty remaining(recalibration(known, fitted.space, {}).priors, known.unknowns.size(),
                                       candidates);
  std::vector<std::size_t> chosen;
  for (const std::size_t place : informative_runs(remaining, runs_of_recalibration)) chosen.push_back(runs[place]);
  const FitResult after = recalibrated(fitted, without, known, chosen, options);
  std::vector<LeftOutError> errors;
  for (const std::size_t i : runs)
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) errors.push_back(error_of(fitted, after, i));
  return errors;
}

}  // namespace

FrameworkNoise framework_noise(const std::vector<std::vector<LeftOutError>>& frameworks) {
  std::vector<double> added;
  for (const std::vector<LeftOutError>& errors : frameworks) {
    if (errors.empty()) continue;
    double beyond = 0;
    for (const LeftOutError& e : errors) beyond += e.error * e.error - e.variance;
    added.push_back(beyond / static_cast<double>(errors.size()));
  }
  FrameworkNoise noise;
  noise.frameworks = added.size();
  noise.deviations = deviations_of(added.size());
  if (added.empty()) return noise;
  noise.variance = std::max(0.0, median(added));
  noise.sigma = covering_sigma(frameworks);
  return noise;
}

FrameworkNoises framework_noises(const FittedFrameworks& fitted, const FitOptions& options) {
  std::vector<std::vector<LeftOutError>> unknown;
  std::vector<std::vector<LeftOutError>> few_runs;
  for (const std::vector<std::size_t>& members : fitted.members) {
    const std::vector<std::size_t> runs = trusted_of(fitted, members);
    const FitResult without = without_group(fitted.problem, fitted.result, members, options.loss_scale);
    unknown.emplace_back();
    for (const std::size_t i : runs) {
      unknown.back().push_back(error_of(fitted, without, i));
      if (fitted.of_unknown_framework)
        unknown.back().back().error =
            fitted.of_unknown_framework(i, without.unknowns) - fitted.problem.observations[i].log_measured;
    }
    if (runs.size() > runs_of_recalibration) few_runs.push_back(errors_after_few(fitted, without, runs, options));
  }
  return {framework_noise(unknown), framework_noise(few_runs)};
}

}  // namespace plumbline
