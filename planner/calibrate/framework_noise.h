#pragma once
/// \file framework_noise.h: how much farther off a framework is of which nothing, or only a few runs, were fitted.
///
/// Model: log(measured / predicted) of a framework's runs is normal; its variance is what the fit leaves open, the
/// noise of the run's class, and what frameworks add. A framework that is left out is read as one that no rule names.
/// Each framework of the training runs is left out in turn; what it adds is the mean over its runs of the squared error
/// beyond the first two, and the median of frameworks counts, so that none decides alone. Frameworks are few: the
/// deviations of nine tenths are Student's t with one degree of freedom less than there are frameworks. After a few
/// runs: the same, each framework recalibrated on its telling runs (informative_runs.h), all to first order of the fit.
/// Source: Gelman & Hill, "Data analysis using regression and multilevel models", 2007, chapter 12 (groups as draws).
/// Not modelled: frameworks that resemble each other. Checked against:
/// tests/unit/planner/calibrate/framework_noise_test.cpp; coverage over left-out stacks in docs/fidelity.md.

#include <functional>
#include <span>

#include "planner/calibrate/knowledge.h"

namespace plumbline {

/// After so many runs of its own a stack counts as known from a few.
inline constexpr std::size_t runs_of_recalibration = 3;

struct FrameworkNoise {
  double variance = 0;
  double deviations = 0;  ///< of 90 %, two-sided
  double sigma = 0;       ///< for which nine tenths of all the frameworks' runs lie inside 1.645 of it
  std::size_t frameworks = 0;
};

/// `frameworks`: errors by framework; each variance is what is expected without the framework's share.
[[nodiscard]] FrameworkNoise framework_noise(const std::vector<std::vector<LeftOutError>>& frameworks);

/// A fit as it was made, its observations' frameworks by number, and which of them count (trusted runs).
struct FittedFrameworks {
  const ParameterSpace& space;
  const FitProblem& problem;
  const FitResult& result;
  std::vector<std::vector<std::size_t>> members;  ///< places among the observations, by framework
  std::vector<bool> trusted;                      ///< by observation
  std::vector<double> class_noise;                ///< by observation
  /// log(predicted) of an observation read as of a framework that no rule names; where absent, as it is read.
  std::function<double(std::size_t observation, std::span<const double> unknowns)> of_unknown_framework = {};
};
struct FrameworkNoises {
  FrameworkNoise unknown;   ///< nothing of the framework was fitted
  FrameworkNoise few_runs;  ///< runs_of_recalibration of its runs were
};
[[nodiscard]] FrameworkNoises framework_noises(const FittedFrameworks& fitted, const FitOptions& options);

}  // namespace plumbline
