#pragma once
/// \file recalibrated.h: a calibration that is known, moved by a handful of runs.
///
/// Model: what is known (knowledge.h) is the prior, the runs move what they can. Few runs thus move a common factor,
/// many runs more. Intervals: the noise of the run's class, what the fit leaves open, and what frameworks add after few
/// runs (framework_noise.h). Checked against: tests/unit/planner/calibrate/cross_validation_test.cpp.

#include "planner/calibrate/trained.h"

namespace plumbline {

class Recalibrated {
 public:
  /// `chosen`: indices into `runs` of what it is calibrated on. `space` outlives this.
  Recalibrated(const Knowledge& known, const ParameterSpace& space, const std::vector<FitRun>& runs,
               const std::vector<std::size_t>& chosen, const FitOptions& options);

  [[nodiscard]] Interval predict(const FitRun& run, const RunNoise& noise) const;
  [[nodiscard]] const FitResult& result() const { return result_; }

 private:
  const ParameterSpace& space_;
  FitResult result_;
  double derivative_step_;
};

}  // namespace plumbline
