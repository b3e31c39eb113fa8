#pragma once
/// \file calibrate_view.h: what `plan calibrate --rows` found, for people and as JSON ("plumbline.calibrated/1").

#include "core/io/json.h"
#include "planner/calibrate/own_rows.h"

namespace plumbline {

[[nodiscard]] std::string calibration_text(const OwnCalibration& found, const std::vector<FitRow>& rows);
[[nodiscard]] Json to_json(const OwnCalibration& found, const std::vector<FitRow>& rows);

}  // namespace plumbline
