#pragma once
/// \file shipped_fit.h: the calibrations that ship with this program, fitted to the published runs.
///
/// A number that the runs identify becomes "fitted" with the uncertainty that the fit leaves; one that they do not
/// keeps its prior's source and is "assumed"; its value is its prior's where the fit holds it there (held_numbers.h).

#include "planner/calibrate/trained.h"

namespace plumbline {

struct FittedNumber {
  ParameterId id;
  double prior = 0;
  double prior_sigma = 0;
  double value = 0;
  double sigma = 0;      ///< of the logarithm
  bool is_held = false;  ///< at its prior, or as far from its centre
  bool is_identified = false;
};
[[nodiscard]] std::vector<FittedNumber> fitted_numbers(const ParameterSpace& space, const Trained& trained);

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
