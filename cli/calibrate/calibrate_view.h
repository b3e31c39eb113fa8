#pragma once
/// \file calibrate_view.h: what `plan calibrate --rows` found, as text.

#include "planner/calibrate/own_runs.h"

namespace plumbline {

[[nodiscard]] std::string calibration_text(const OwnCalibration& found, const std::vector<FitRun>& runs);

}  // namespace plumbline
