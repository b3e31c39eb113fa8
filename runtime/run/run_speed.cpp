#include "runtime/run/run_speed.h"

#include <algorithm>

#include "models/this_computer.h"
#include "runtime/measure/measure_kernels.h"

namespace plumbline {

FlopsPerSecond RunSpeed::model_flops_per_second(double step_s) const { return model_flops_per_step / Seconds(step_s); }

double RunSpeed::utilisation(double step_s) const {
  return model_flops_per_second(step_s) / (static_cast<double>(cores) * core_peak);
}

RunSpeed run_speed(Flops model_flops_per_step, const DeviceCalibration& device, std::int64_t ranks) {
  const ComputerFacts facts = computer_facts();
  const Coefficient& fraction = device.product(NumberFormat::fp32).peak_fraction;
  RunSpeed speed;
  speed.model_flops_per_step = model_flops_per_step;
  speed.cores = static_cast<std::int32_t>(std::min<std::int64_t>(ranks, facts.cores));
  if (fraction.kind == "measured") {
    speed.core_peak = FlopsPerSecond(facts.clock_hertz * facts.flops_per_cycle * fraction.value);
    speed.peak_source = "calibrated";
  } else {
    speed.core_peak = measured_product_rate();
    speed.peak_source = "a product timed before the run";
  }
  return speed;
}

}  // namespace plumbline
