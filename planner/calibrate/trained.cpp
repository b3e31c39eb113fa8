#include "planner/calibrate/trained.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "planner/question/question.h"

namespace plumbline {
namespace {

constexpr double covered_share = 0.9;
/// Fewer rows than this say too little about nine tenths of their class.
constexpr std::size_t fewest_of_class = 20;
/// No published time is surer than this: repetitions of the steadiest source differ by 1 %.
constexpr double least_noise = 0.01;

/// Rows of one source and model share what is peculiar to them, so n of them say as much as n / (1 + (n - 1) rho)
/// independent ones: the design effect of cluster sampling (Kish, "Survey sampling", 1965, section 5.4).
constexpr double correlation_in_group = 0.1;

std::vector<double> weights_of(const std::vector<FitRow>& rows, const std::vector<std::size_t>& fitted) {
  std::map<std::string, double> size;
  for (const std::size_t i : fitted) size[rows[i].group] += 1;
  std::vector<double> weights;
  for (const std::size_t i : fitted)
    weights.push_back(rows[i].weight / (1 + correlation_in_group * (size[rows[i].group] - 1)));
  return weights;
}

FitProblem problem_of(const ParameterSpace& space, const std::vector<FitRow>& rows,
                      const std::vector<std::size_t>& fitted) {
  FitProblem problem;
  problem.unknowns = space.unknowns();
  problem.priors = space.priors();
  const std::vector<double> weights = weights_of(rows, fitted);
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    const FitRow& row = rows[fitted[i]];
    problem.observations.push_back({std::log(row.measured_s), weights[i], space.unknowns_of(row)});
  }
  problem.predict = [&space, &rows, &fitted](std::size_t i, std::span<const double> x) {
    return space.log_step(rows[fitted[i]], x);
  };
  return problem;
}

/// Numbers from 0 for what `name` calls each fitted row.
template <class Name>
std::vector<std::size_t> groups_of(const std::vector<FitRow>& rows, const std::vector<std::size_t>& fitted, Name name) {
  std::map<std::string, std::size_t> number;
  std::vector<std::size_t> groups;
  for (const std::size_t i : fitted) groups.push_back(number.emplace(name(rows[i]), number.size()).first->second);
  return groups;
}

std::string stack_and_class(const FitRow& row) { return row.stack + "|" + std::string(to_text(row.row_class)); }

}  // namespace

double covering_noise(const std::vector<LeftOutError>& errors, double share, double deviations) {
  std::vector<double> needed;  // noise^2 that each error asks for
  for (const LeftOutError& e : errors) {
    const double standard = e.error / deviations;
    needed.push_back(standard * standard - e.variance);
  }
  if (needed.empty()) return 0;
  std::sort(needed.begin(), needed.end());
  // The ceil(share (n + 1))-th smallest covers `share` of new ones too.
  const double place = std::ceil(share * static_cast<double>(needed.size() + 1));
  const auto at = std::min(needed.size(), static_cast<std::size_t>(place)) - 1;
  return std::sqrt(std::max(0.0, needed[at]));
}

Trained::Trained(const ParameterSpace& space, const std::vector<FitRow>& rows, const std::vector<std::size_t>& training,
                 const FitOptions& options)
    : space_(space), derivative_step_(options.derivative_step) {
  for (const std::size_t i : training)
    if (rows[i].weight > 0) fitted_.push_back(i);
  const FitProblem problem = problem_of(space, rows, fitted_);
  result_ = fit(problem, options);
  const auto group = [](const FitRow& row) { return row.group; };
  left_out_ = left_out_errors(problem, result_, groups_of(rows, fitted_, group), options.loss_scale);
  find_noise(rows);
  find_framework_noise(rows, problem, options);
  for (const std::size_t i : fitted_) known_.insert(stack_and_class(rows[i]));
}

void Trained::find_noise(const std::vector<FitRow>& rows) {
  const double all = covering_noise(left_out_, covered_share, deviations_90_percent);
  for (const RowClass row_class : all_row_classes) {
    std::vector<LeftOutError> of_class;
    for (std::size_t i = 0; i < fitted_.size(); ++i)
      if (rows[fitted_[i]].row_class == row_class) of_class.push_back(left_out_[i]);
    const bool enough = of_class.size() >= fewest_of_class;
    const double noise = enough ? covering_noise(of_class, covered_share, deviations_90_percent) : all;
    noise_[static_cast<std::size_t>(row_class)] = std::max(least_noise, noise);
  }
}

void Trained::find_framework_noise(const std::vector<FitRow>& rows, const FitProblem& problem,
                                   const FitOptions& options) {
  const auto framework = [&](const FitRow& row) { return space_.base().software_stack(row.stack).framework; };
  FittedFrameworks fitted{space_, problem, result_, {}, {}, {}};
  const std::vector<std::size_t> groups = groups_of(rows, fitted_, framework);
  for (std::size_t i = 0; i < fitted_.size(); ++i) {
    if (groups[i] >= fitted.members.size()) fitted.members.resize(groups[i] + 1);
    fitted.members[groups[i]].push_back(i);
    fitted.trusted.push_back(rows[fitted_[i]].trust == RowTrust::trusted);
    fitted.class_noise.push_back(noise(rows[fitted_[i]].row_class));
  }
  noises_ = framework_noises(fitted, options);
}

RowNoise Trained::noise(RowClass row_class, CalibrationRegime regime) const {
  const double of_class = noise(row_class) * noise(row_class);
  switch (regime) {
    case CalibrationRegime::calibrated: break;
    case CalibrationRegime::few_rows: return {of_class + noises_.few_rows.variance, noises_.few_rows.deviations};
    case CalibrationRegime::unknown: return {of_class + noises_.unknown.variance, noises_.unknown.deviations};
  }
  return {of_class, deviations_90_percent};
}

Interval predicted_interval(const ParameterSpace& space, const FitResult& result, const RowNoise& noise,
                            const FitRow& row, double derivative_step) {
  const double log_step = space.log_step(row, result.unknowns);
  FitProblem alone;
  alone.unknowns = space.unknowns();
  alone.observations = {{0, 1, space.unknowns_of(row)}};
  alone.predict = [&](std::size_t, std::span<const double> x) { return space.log_step(row, x); };
  const Gradient gradient = derivatives(alone, 0, result.unknowns, log_step, derivative_step);
  const double sigma = std::sqrt(noise.variance + result.variance(alone.observations.front().unknowns, gradient));
  const double factor = std::exp(noise.deviations * sigma);
  const double step = std::exp(log_step);
  return {step / factor, step, step * factor};
}

Interval Trained::predict(const FitRow& row) const {
  const bool is_known = known_.contains(stack_and_class(row));
  const CalibrationRegime regime = is_known ? CalibrationRegime::calibrated : CalibrationRegime::unknown;
  return predicted_interval(space_, result_, noise(row.row_class, regime), row, derivative_step_);
}

}  // namespace plumbline
