#pragma once
/// \file recalibrated.h: a calibration that is known, moved by a handful of rows.
///
/// Model: every number keeps its value and uncertainty as a prior (each on its own; correlations are dropped, which
/// leaves more freedom than there is), the rows move what they can. Few rows thus move a common factor, many rows more.
/// Checked against: tests/unit/planner/calibrate/recalibrated_test.cpp.

#include "planner/calibrate/trained.h"

namespace plumbline {

/// What is known before: logarithms of the numbers of a space, their sigmas, and the noise of a class of rows.
struct Knowledge {
  std::vector<double> unknowns;
  std::vector<double> sigmas;
  std::array<double, all_row_classes.size()> noise{};
};
[[nodiscard]] Knowledge knowledge_of(const Trained& trained);
/// The same with every number of a device held: a few steps cannot tell a slow device from a slow framework.
[[nodiscard]] Knowledge with_devices_held(Knowledge known, const ParameterSpace& space);

class Recalibrated {
 public:
  /// `chosen`: indices into `rows` of what it is calibrated on. `space` outlives this.
  Recalibrated(const Knowledge& known, const ParameterSpace& space, const std::vector<FitRow>& rows,
               const std::vector<std::size_t>& chosen, const FitOptions& options);

  [[nodiscard]] Interval predict(const FitRow& row) const;
  [[nodiscard]] const FitResult& result() const { return result_; }

 private:
  Knowledge known_;
  const ParameterSpace& space_;
  FitResult result_;
  double derivative_step_;
};

}  // namespace plumbline
