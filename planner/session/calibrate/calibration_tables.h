#pragma once
/// \file calibration_tables.h: what a calibration on somebody's own runs found.
///
/// Checked against: tests/unit/planner/session/calibrate/calibration_tables_test.cpp.

#include "planner/calibrate/own_runs.h"
#include "planner/present/table.h"

namespace plumbline::present {

/// Measured seconds of each run, and how far predictions are off: shipped, fitted, and by a fit that left it out.
[[nodiscard]] Table calibrated_runs_table(const OwnCalibration& found, const std::vector<FitRun>& runs);
/// The numbers that moved most, at most `most`, with how well each is known.
[[nodiscard]] Table calibrated_numbers_table(const OwnCalibration& found, std::size_t most = 12);

}  // namespace plumbline::present
