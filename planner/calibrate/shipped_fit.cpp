#include "planner/calibrate/shipped_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/cost/extrapolation.h"
#include "core/cost/host_share.h"
#include "planner/pricing/trust.h"
#include "planner/question/question.h"

namespace plumbline {
namespace {

/// What is written reads well and differs from what was found by less than its uncertainty.
double four_digits(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

std::string source_of_assumed(const FittedNumber& number, const PriorTable& priors, const std::string& source) {
  const std::string prior = prior_of(priors, number.id)->source;
  return prior + (number.is_held ? "; held, as the " + source + " is as good with it"
                                 : "; moved but not identified by the " + source);
}

/// Errors of one device's or stack's runs, each predicted without its group.
struct Missed {
  std::map<std::string, std::vector<LeftOutError>> by_network;  ///< of runs that the host does not hold up
  std::size_t runs = 0;
  RunRanges ranges;
  [[nodiscard]] std::vector<LeftOutError> errors() const {
    std::vector<LeftOutError> all;
    for (const auto& [network, some] : by_network) all.insert(all.end(), some.begin(), some.end());
    return all;
  }
};

double sigma_of(std::vector<LeftOutError> errors) {
  constexpr double covered = 0.9;
  for (LeftOutError& error : errors) error.variance = 0;  // the interval that is read has one sigma for all
  return covering_noise(errors, covered, deviations_90_percent);
}

Residual residual_of(double sigma, std::size_t errors, std::size_t runs, const std::string& source) {
  const double relative = 1 / std::sqrt(2 * static_cast<double>(std::max<std::size_t>(1, errors)));
  return {
      {four_digits(sigma), four_digits(relative), "fitted", source + ", each run predicted without its source's model"},
      static_cast<std::int64_t>(runs)};
}

/// One for each kind of network with at least `runs_of_calibrated` errors; none where all runs are of one kind.
std::vector<NetworkResidual> residuals_by_network(const Missed& missed, const std::string& source) {
  std::vector<NetworkResidual> kinds;
  if (missed.by_network.size() < 2) return kinds;
  for (const auto& [network, errors] : missed.by_network)
    if (errors.size() >= runs_of_calibrated)
      kinds.push_back({network, residual_of(sigma_of(errors), errors.size(), errors.size(), source)});
  return kinds;
}

/// `few_runs`: what is used for a calibration of which few runs are known.
Residuals residuals_of(const Missed& missed, const Residuals& before, double few_runs, const std::string& source) {
  Residuals residuals = before;
  const bool many = missed.runs >= runs_of_calibrated;
  const std::vector<LeftOutError> errors = missed.errors();
  const bool enough = errors.size() >= runs_of_calibrated;
  residuals.regime = many ? CalibrationRegime::calibrated : CalibrationRegime::few_runs;
  residuals.measured = missed.ranges;
  const double of_errors = sigma_of(errors);
  // A handful of errors says little about nine tenths: no less than what frameworks need after a few runs.
  const double sigma = enough ? of_errors : std::max(of_errors, few_runs);
  residuals.time = residual_of(sigma, errors.size(), missed.runs, source);
  residuals.time_by_network = residuals_by_network(missed, source);
  return residuals;
}

/// What stands for a stack of which nothing, or a few runs, are known: what the frameworks of the runs needed so.
void set_regimes(CalibrationSet& set, const FrameworkNoises& noises, const std::string& source) {
  const auto set_one = [&](CalibrationRegime regime, const FrameworkNoise& noise, const std::string& how) {
    if (noise.frameworks < 2) return;
    const double relative = 1 / std::sqrt(2 * static_cast<double>(noise.frameworks - 1));
    set.set_regime(regime, {four_digits(noise.sigma), four_digits(relative), "fitted",
                            source + ", " + std::to_string(noise.frameworks) + " frameworks predicted " + how});
  };
  set_one(CalibrationRegime::few_runs, noises.few_runs,
          "after " + std::to_string(runs_of_recalibration) + " of their runs");
  set_one(CalibrationRegime::unknown, noises.unknown, "without any of their runs");
}

/// Of the stack of frameworks that are not in the catalogue: runs of one say nothing of another.
constexpr std::string_view unknown_framework = "unknown";

bool is_of_earlier_fit(const std::optional<Residuals>& residuals) {
  return residuals && residuals->time.sigma.kind == "fitted";
}

/// What is left open of the host's times, beyond what device and stack leave open: so much that nine tenths of a
/// stack's runs that the host holds up lie inside their intervals, each predicted without its group. Where a stack has
/// too few of them its host is as uncertain as that of a stack without runs: another source's processor and interpreter
/// are.
void set_host_sigma(CalibrationSet& set, const ParameterSpace& space, const Trained& trained,
                    const std::vector<FitRun>& runs, const std::string& source) {
  constexpr double covered = 0.9;
  std::map<std::string, std::vector<LeftOutError>> errors;
  for (std::size_t i = 0; i < trained.fitted().size(); ++i) {
    const FitRun& run = runs[trained.fitted()[i]];
    if (!is_held_up_by_host(space, run, trained.result().gradients[i])) continue;
    const Calibration calibration = set.of(run.device, run.stack);
    if (calibration.stack.residuals.regime != CalibrationRegime::calibrated) continue;
    const double share = run.pricer.host_share(calibration);
    const double otherwise = (1 - share) * uncertainty(calibration, run.features).time_sigma;
    const double missed = trained.left_out()[i].error / deviations_90_percent;
    const double moved = std::sqrt(std::max(0.0, missed * missed - otherwise * otherwise));
    if (share > 0)
      errors[set.software_stack(without_choices(run.stack)).name].push_back(
          {host_sigma_that_moves(share, moved) * deviations_90_percent, 0});
  }
  const Coefficient unmeasured = set.at(ParameterId::of_base("host_sigma"));
  for (const SoftwareStack& stack : std::vector<SoftwareStack>(set.stacks())) {
    const ParameterId own = ParameterId::of_stack(stack.name, "host_sigma");
    const std::vector<LeftOutError>& of_stack = errors[stack.name];
    if (of_stack.size() >= runs_of_calibrated) {
      const double relative = 1 / std::sqrt(2 * static_cast<double>(of_stack.size()));
      set.set(own, {four_digits(covering_noise(of_stack, covered, deviations_90_percent)), four_digits(relative),
                    "fitted", source + ", each run that the host holds up predicted without its source's model"});
    } else if (set.has(own)) {
      set.set(own, unmeasured);
    }
  }
}

void set_residuals(CalibrationSet& set, const ParameterSpace& space, const Trained& trained,
                   const std::vector<FitRun>& runs, const std::string& source) {
  std::map<std::string, Missed> devices;
  std::map<std::string, Missed> stacks;
  for (std::size_t i = 0; i < trained.fitted().size(); ++i) {
    const FitRun& run = runs[trained.fitted()[i]];
    const bool held_up = is_held_up_by_host(space, run, trained.result().gradients[i]);
    const auto add_to = [&](Missed& missed) {
      if (!held_up) missed.by_network[run.features.network].push_back(trained.left_out()[i]);
      ++missed.runs;
      missed.ranges.include(run.features);
    };
    const SoftwareStack stack = set.software_stack(without_choices(run.stack));
    if (stack.framework != unknown_framework) add_to(stacks[stack.name]);
    if (!held_up) add_to(devices[set.device(run.device).name]);
  }
  const double few_runs = set.axis_table().regimes[static_cast<std::size_t>(CalibrationRegime::few_runs)].time;
  for (const DeviceCalibration& device : std::vector<DeviceCalibration>(set.devices())) {
    if (const auto found = devices.find(device.name); found != devices.end())
      set.set_device_residuals(device.name,
                               residuals_of(found->second, device.residuals.value_or(Residuals{}), few_runs, source));
    else if (is_of_earlier_fit(device.residuals))
      set.set_device_residuals(device.name, std::nullopt);
  }
  for (const SoftwareStack& stack : std::vector<SoftwareStack>(set.stacks())) {
    if (const auto found = stacks.find(stack.name); found != stacks.end())
      set.set_stack_residuals(stack.name,
                              residuals_of(found->second, set.stack(stack.name).residuals, few_runs, source));
    else if (is_of_earlier_fit(stack.residuals))
      set.set_stack_residuals(stack.name, std::nullopt);
  }
}

}  // namespace

std::vector<FittedNumber> fitted_numbers(const ParameterSpace& space, const Trained& trained) {
  const FitResult& result = trained.result();
  std::vector<FittedNumber> numbers;
  for (std::size_t u = 0; u < space.ids().size(); ++u) {
    const PriorTerm& prior = trained.priors()[u];
    numbers.push_back({space.ids()[u], std::exp(space.unknowns()[u].start), space.prior_sigma(u),
                       std::exp(result.unknowns[u]), result.sigma(u), prior.is_held,
                       !prior.is_held && result.share_left_open(prior) < identified_below});
  }
  return numbers;
}

CalibrationSet fitted_set(const CalibrationSet& set, const ParameterSpace& space, const Trained& trained,
                          const std::vector<FitRun>& runs, const PriorTable& priors, const std::string& source) {
  CalibrationSet fitted = set;
  for (const FittedNumber& number : fitted_numbers(space, trained)) {
    fitted.set(number.id,
               {four_digits(number.value), four_digits(number.sigma), number.is_identified ? "fitted" : "assumed",
                number.is_identified ? source : source_of_assumed(number, priors, source)});
  }
  set_regimes(fitted, trained.of_frameworks(), source);
  set_residuals(fitted, space, trained, runs, source);
  set_host_sigma(fitted, space, trained, runs, source);
  return fitted;
}

ShippedPrediction shipped_prediction(const CalibrationSet& set, const FitRun& run) {
  const Calibration calibration = set.of(run.device, run.stack);
  RunFeatures features = run.features;
  features.host_share = run.pricer.host_share(calibration);
  features.network_share = run.pricer.network_share(calibration);
  const Uncertainty of_run = uncertainty(calibration, features);
  return {interval_of(run.pricer.step_s(calibration), of_run.time_sigma), of_run.regime};
}

}  // namespace plumbline
