#pragma once
/// \file run_speed.h: what a run's cores could do in matrix products, for the utilisation of a step.
///
/// Model: model FLOPs of a step over its time, over the product rate of as many cores as ranks run on. The rate is the
/// calibration's where the plan's stack was measured on this computer, else one large product is timed before the run.
/// Source of the ratio: Chowdhery et al., PaLM (arXiv:2204.02311), appendix B (MFU). Not modelled: ranks on other
/// computers; other programs on the same cores.

#include <string>

#include "core/cost/calibration.h"
#include "core/quantity/quantity.h"

namespace plumbline {

struct RunSpeed {
  Flops model_flops_per_step{0};
  FlopsPerSecond core_peak{0};
  std::string peak_source;  ///< "calibrated", "a product timed before the run"
  std::int32_t cores = 1;   ///< that ranks run on

  [[nodiscard]] FlopsPerSecond model_flops_per_second(double step_s) const;
  [[nodiscard]] double utilisation(double step_s) const;
};

/// Of `ranks` that share this computer. `device`: of the plan's stack.
[[nodiscard]] RunSpeed run_speed(Flops model_flops_per_step, const DeviceCalibration& device, std::int64_t ranks);

}  // namespace plumbline
