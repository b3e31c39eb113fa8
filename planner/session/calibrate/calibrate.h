#pragma once
/// \file calibrate.h: a software stack fitted to somebody's own measured runs: what `plan calibrate --rows` answers.
///
/// Checked against: tests/unit/planner/session/calibrate/calibrate_test.cpp, calibration_tables_test.cpp.

#include <optional>

#include "planner/calibrate/own_runs.h"
#include "planner/present/table.h"
#include "planner/question/task.h"

namespace plumbline::session {

struct CalibrationRequest {
  std::vector<RunSet> runs;
  std::optional<std::string> device;  ///< only runs of this one
  std::optional<std::string> stack;   ///< what they ran on, where runs do not say
  std::optional<std::string> like;    ///< they ran on another stack, most like this one
  std::string name = "own";           ///< of the new stack
};

/// Runs that can be priced, and why others cannot: known before any fit, and when none is possible.
struct PreparedCalibration {
  CalibrationRequest request;
  std::vector<FitRun> runs;
  std::vector<SkippedRun> skipped;
};
/// Throws InputError where stack and like are both given.
[[nodiscard]] PreparedCalibration prepare_calibration(const CalibrationRequest& request);

struct CalibrationAnswer {
  std::vector<FitRun> runs;  ///< of the device
  OwnCalibration found;
  bool complete = true;  ///< false: it was stopped; `found` is of fits that had not ended, and no calibration
};

/// Throws InputError, in the words of the flags, where no run is of the device, or what is left is of several devices
/// or stacks. Progress: phase "fit", by iterations.
[[nodiscard]] CalibrationAnswer calibrate(const PreparedCalibration& prepared, const Task& task = {});

}  // namespace plumbline::session

namespace plumbline::present {

/// Measured seconds of each run, and how far predictions are off: shipped, fitted, and by a fit that left it out.
[[nodiscard]] Table calibrated_runs_table(const OwnCalibration& found, const std::vector<FitRun>& runs);
/// The numbers that moved most, at most `most`, with how well each is known.
[[nodiscard]] Table calibrated_numbers_table(const OwnCalibration& found, std::size_t most = 12);

}  // namespace plumbline::present
