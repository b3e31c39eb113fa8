#include "planner/calibrate/recalibrated.h"

#include <cmath>

namespace plumbline {

Recalibrated::Recalibrated(const Knowledge& known, const ParameterSpace& space, const std::vector<FitRun>& runs,
                           const std::vector<std::size_t>& chosen, const FitOptions& options)
    : space_(space), derivative_step_(options.derivative_step) {
  FewObservations few;
  for (const std::size_t i : chosen)
    few.observations.push_back({std::log(runs[i].measured_s), 1, space.unknowns_of(runs[i])});
  few.predict = [&](std::size_t i, std::span<const double> x) { return space.log_step(runs[chosen[i]], x); };
  result_ = fit(recalibration(known, space, std::move(few)), options);
}

Interval Recalibrated::predict(const FitRun& run, const RunNoise& noise) const {
  return predicted_interval(space_, result_, noise, run, derivative_step_);
}

}  // namespace plumbline
