#pragma once
/// \file recalibrated.h: a calibration that is known, moved by a handful of rows.
///
/// Model: what is known (knowledge.h) is the prior, the rows move what they can. Few rows thus move a common factor,
/// many rows more. Intervals: the noise of the row's class, what the fit leaves open, and what frameworks add after few
/// rows (framework_noise.h). Checked against: tests/unit/planner/calibrate/cross_validation_test.cpp.

#include "planner/calibrate/trained.h"

namespace plumbline {

class Recalibrated {
 public:
  /// `chosen`: indices into `rows` of what it is calibrated on. `space` outlives this.
  Recalibrated(const Knowledge& known, const ParameterSpace& space, const std::vector<FitRow>& rows,
               const std::vector<std::size_t>& chosen, const FitOptions& options);

  [[nodiscard]] Interval predict(const FitRow& row, const RowNoise& noise) const;
  [[nodiscard]] const FitResult& result() const { return result_; }

 private:
  const ParameterSpace& space_;
  FitResult result_;
  double derivative_step_;
};

}  // namespace plumbline
