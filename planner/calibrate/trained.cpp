#include "planner/calibrate/trained.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "planner/calibrate/held_numbers.h"
#include "planner/question/question.h"

namespace plumbline {
namespace {

constexpr double covered_share = 0.9;
/// Fewer runs than this say too little about nine tenths of their class.
constexpr std::size_t fewest_of_class = 20;
/// No published time is surer than this: repetitions of the steadiest source differ by 1 %.
constexpr double least_noise = 0.01;

/// Runs of one source share what is peculiar to it, those of one model too share more: a run among n_g of its source
/// and model and n_s of its source says as much as 1 / (1 + (n_g - 1) rho_g + (n_s - n_g) rho_s) independent ones: the
/// design effect of nested cluster sampling (Kish, "Survey sampling", 1965, section 5.4). Both correlations are
/// assumed. Without the second term the 570 runs of one laboratory decided what kernels of a device take.
constexpr double correlation_in_group = 0.1;
constexpr double correlation_in_source = 0.02;

std::vector<double> weights_of(const std::vector<FitRun>& runs, const std::vector<std::size_t>& fitted) {
  std::map<std::string, double> of_group;
  std::map<std::string, double> of_source;
  for (const std::size_t i : fitted) {
    of_group[runs[i].group] += 1;
    of_source[runs[i].source] += 1;
  }
  std::vector<double> weights;
  for (const std::size_t i : fitted) {
    const double in_group = of_group[runs[i].group];
    const double others = of_source[runs[i].source] - in_group;
    weights.push_back(runs[i].weight /
                      (1 + correlation_in_group * (in_group - 1) + correlation_in_source * std::max(0.0, others)));
  }
  return weights;
}

FitProblem problem_of(const ParameterSpace& space, const std::vector<FitRun>& runs,
                      const std::vector<std::size_t>& fitted) {
  FitProblem problem;
  problem.unknowns = space.unknowns();
  problem.priors = space.priors();
  const std::vector<double> weights = weights_of(runs, fitted);
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    const FitRun& run = runs[fitted[i]];
    problem.observations.push_back({std::log(run.measured_s), weights[i], space.unknowns_of(run)});
  }
  problem.predict = [&space, &runs, &fitted](std::size_t i, std::span<const double> x) {
    return space.log_step(runs[fitted[i]], x);
  };
  return problem;
}

/// Numbers from 0 for what `name` calls each fitted run.
template <class Name>
std::vector<std::size_t> groups_of(const std::vector<FitRun>& runs, const std::vector<std::size_t>& fitted, Name name) {
  std::map<std::string, std::size_t> number;
  std::vector<std::size_t> groups;
  for (const std::size_t i : fitted) groups.push_back(number.emplace(name(runs[i]), number.size()).first->second);
  return groups;
}

std::string stack_and_class(const FitRun& run) { return run.stack + "|" + std::string(to_text(run.run_class)); }

}  // namespace

double covering_noise(const std::vector<LeftOutError>& errors, double share, double deviations) {
  std::vector<double> needed;  // noise^2 that each error asks for
  for (const LeftOutError& e : errors) {
    const double standard = e.error / deviations;
    needed.push_back(standard * standard - e.variance);
  }
  if (needed.empty()) return 0;
  std::sort(needed.begin(), needed.end());
  // Between the order statistics around share (n + 1), counted from 1, which cover `share` of new errors in the mean:
  // type 6 of Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996.
  const double place =
      std::clamp(share * static_cast<double>(needed.size() + 1), 1.0, static_cast<double>(needed.size()));
  const auto below = static_cast<std::size_t>(place) - 1;
  const std::size_t above = std::min(below + 1, needed.size() - 1);
  const double between = place - std::floor(place);
  return std::sqrt(std::max(0.0, std::lerp(needed[below], needed[above], between)));
}

bool is_held_up_by_host(const ParameterSpace& space, const FitRun& run, const std::vector<double>& gradient) {
  constexpr double much = 0.3;
  const std::vector<std::uint32_t> unknowns = space.unknowns_of(run);
  double share = 0;
  for (std::size_t a = 0; a < unknowns.size(); ++a)
    if (space.ids()[unknowns[a]].field.starts_with("host_time")) share += gradient[a];
  return share > much;
}

Trained::Trained(const ParameterSpace& space, const std::vector<FitRun>& runs, const std::vector<std::size_t>& training,
                 const FitOptions& options, const std::vector<double>& start)
    : space_(space), derivative_step_(options.derivative_step) {
  for (const std::size_t i : training)
    if (runs[i].weight > 0) fitted_.push_back(i);
  FitProblem problem = problem_of(space, runs, fitted_);
  for (std::size_t u = 0; u < start.size(); ++u) problem.unknowns[u].start = start[u];
  result_ = fit(problem, options);
  hold_what_fits_as_well(problem.priors, result_);
  for (std::size_t u = 0; u < problem.unknowns.size(); ++u) problem.unknowns[u].start = result_.unknowns[u];
  result_ = fit(problem, options);
  priors_ = problem.priors;
  const auto group = [](const FitRun& run) { return run.group; };
  left_out_ = left_out_errors(problem, result_, groups_of(runs, fitted_, group), options.loss_scale);
  find_noise(runs);
  find_framework_noise(runs, problem, options);
  for (const std::size_t i : fitted_) known_.insert(stack_and_class(runs[i]));
}

std::vector<double> Trained::unknowns_without(const std::vector<FitRun>& runs, const std::set<std::size_t>& left_out,
                                              double loss_scale) const {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < fitted_.size(); ++i)
    if (left_out.contains(fitted_[i])) members.push_back(i);
  FitProblem problem = problem_of(space_, runs, fitted_);
  problem.priors = priors_;
  return without_group(problem, result_, members, loss_scale).unknowns;
}

void Trained::find_noise(const std::vector<FitRun>& runs) {
  const double all = covering_noise(left_out_, covered_share, deviations_90_percent);
  for (const RunClass run_class : all_run_classes) {
    std::vector<LeftOutError> of_class;
    for (std::size_t i = 0; i < fitted_.size(); ++i)
      if (runs[fitted_[i]].run_class == run_class) of_class.push_back(left_out_[i]);
    const bool enough = of_class.size() >= fewest_of_class;
    const double noise = enough ? covering_noise(of_class, covered_share, deviations_90_percent) : all;
    noise_[static_cast<std::size_t>(run_class)] = std::max(least_noise, noise);
  }
}

void Trained::find_framework_noise(const std::vector<FitRun>& runs, const FitProblem& problem,
                                   const FitOptions& options) {
  const auto framework = [&](const FitRun& run) { return space_.base().software_stack(run.stack).framework; };
  FittedFrameworks fitted{space_, problem, result_, {}, {}, {}, {}};
  const std::vector<std::size_t> groups = groups_of(runs, fitted_, framework);
  for (std::size_t i = 0; i < fitted_.size(); ++i) {
    if (groups[i] >= fitted.members.size()) fitted.members.resize(groups[i] + 1);
    fitted.members[groups[i]].push_back(i);
    const FitRun& run = runs[fitted_[i]];
    fitted.trusted.push_back(run.trust != RunTrust::doubtful && !is_held_up_by_host(space_, run, result_.gradients[i]));
    fitted.class_noise.push_back(noise(runs[fitted_[i]].run_class));
  }
  fitted.of_unknown_framework = [&](std::size_t i, std::span<const double> x) {
    const FitRun& run = runs[fitted_[i]];
    return space_.log_step(run.of_unknown_framework ? runs[*run.of_unknown_framework] : run, x);
  };
  noises_ = framework_noises(fitted, options);
}

RunNoise Trained::noise(RunClass run_class, CalibrationRegime regime) const {
  const double of_class = noise(run_class) * noise(run_class);
  switch (regime) {
    case CalibrationRegime::calibrated: break;
    case CalibrationRegime::few_runs: return {of_class + noises_.few_runs.variance, noises_.few_runs.deviations};
    case CalibrationRegime::unknown: return {of_class + noises_.unknown.variance, noises_.unknown.deviations};
  }
  return {of_class, deviations_90_percent};
}

Interval predicted_interval(const ParameterSpace& space, const FitResult& result, const RunNoise& noise,
                            const FitRun& run, double derivative_step) {
  const double log_step = space.log_step(run, result.unknowns);
  FitProblem alone;
  alone.unknowns = space.unknowns();
  alone.observations = {{0, 1, space.unknowns_of(run)}};
  alone.predict = [&](std::size_t, std::span<const double> x) { return space.log_step(run, x); };
  const Gradient gradient = derivatives(alone, 0, result.unknowns, log_step, derivative_step);
  const double sigma = std::sqrt(noise.variance + result.variance(alone.observations.front().unknowns, gradient));
  const double factor = std::exp(noise.deviations * sigma);
  const double step = std::exp(log_step);
  return {step / factor, step, step * factor};
}

Interval Trained::predict(const FitRun& run) const {
  const bool is_known = known_.contains(stack_and_class(run));
  const CalibrationRegime regime = is_known ? CalibrationRegime::calibrated : CalibrationRegime::unknown;
  return predicted_interval(space_, result_, noise(run.run_class, regime), run, derivative_step_);
}

}  // namespace plumbline
