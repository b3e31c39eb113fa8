#include "planner/calibrate/recalibrated.h"

#include <cmath>

namespace plumbline {

Recalibrated::Recalibrated(const Knowledge& known, const ParameterSpace& space, const std::vector<FitRow>& rows,
                           const std::vector<std::size_t>& chosen, const FitOptions& options)
    : space_(space), derivative_step_(options.derivative_step) {
  FewObservations few;
  for (const std::size_t i : chosen)
    few.observations.push_back({std::log(rows[i].measured_s), 1, space.unknowns_of(rows[i])});
  few.predict = [&](std::size_t i, std::span<const double> x) { return space.log_step(rows[chosen[i]], x); };
  result_ = fit(recalibration(known, space, std::move(few)), options);
}

Interval Recalibrated::predict(const FitRow& row, const RowNoise& noise) const {
  return predicted_interval(space_, result_, noise, row, derivative_step_);
}

}  // namespace plumbline
