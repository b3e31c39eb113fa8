#pragma once
/// \file shipped_fit.h: the calibrations that ship with this program, fitted to the published runs.
///
/// A number that the runs identify becomes "fitted" with the uncertainty that the fit leaves; one that they do not
/// keeps its prior's source, is "assumed", and lies where the fit left it.

#include "planner/calibrate/trained.h"

namespace plumbline {

/// A number counts as identified when the fit leaves less than this share of its prior's sigma.
inline constexpr double identified_below = 0.7;

struct FittedNumber {
  ParameterId id;
  double prior = 0;
  double prior_sigma = 0;
  double value = 0;
  double sigma = 0;  ///< of the logarithm
  double sigma_ratio =
      1;  ///< of what the prior leaves open (around its centre, where it has one), how much the fit does
  [[nodiscard]] bool is_identified() const { return sigma_ratio < identified_below; }
};
[[nodiscard]] std::vector<FittedNumber> fitted_numbers(const ParameterSpace& space, const FitResult& result);

/// `set` with the fitted numbers in place, and with what every device and stack of the runs was off by on runs whose
/// group was left out; what an earlier fit said of one without runs goes. `source`: what a fitted number says of
/// itself. Memory's residuals stay.
[[nodiscard]] CalibrationSet fitted_set(const CalibrationSet& set, const ParameterSpace& space, const Trained& trained,
                                        const std::vector<FitRun>& runs, const PriorTable& priors,
                                        const std::string& source);

/// A step as `plan` predicts it with a set, and what the set knows of the run's device and stack.
struct ShippedPrediction {
  Interval step_s;
  CalibrationRegime regime = CalibrationRegime::unknown;
};
[[nodiscard]] ShippedPrediction shipped_prediction(const CalibrationSet& set, const FitRun& run);

}  // namespace plumbline
