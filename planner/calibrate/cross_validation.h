#pragma once
/// \file cross_validation.h: how well steps are predicted that the calibration never saw.
///
/// Three tests of growing distance. Folds: runs are tested by source and model, everything that was ever fitted is
/// fitted anew on the other folds. A software stack left out: nothing of it, then with a calibration from three of its
/// runs (informative_runs.h). Both start from priors that no training run decided (models/calibrations/priors.json) and
/// test what would ship: rounded numbers, stated intervals (shipped_fit.h). Whole sources: left_out_sources.h.
/// Not refitted: rules that complete a run's question (models/run_rules); memory decides an unpublished
/// recompute, never time.
/// Checked against: tests/unit/planner/calibrate/cross_validation_test.cpp (what is tested is never seen; constants
/// that made synthetic runs are found again).

#include <functional>

#include "models/parameter_priors.h"
#include "planner/calibrate/trained.h"

namespace plumbline {

struct TestedRun {
  std::size_t run = 0;  ///< index
  Interval predicted;
  CalibrationRegime regime = CalibrationRegime::unknown;  ///< as `plan` would state it
  std::size_t fold = 0;                                   ///< that it was tested in, from 1; 0: with its stack
};

struct CrossValidationOptions {
  FitOptions fit;
  std::size_t folds = 6;
  std::size_t only_fold = 0;   ///< from 1; 0: all
  std::size_t first_runs = 0;  ///< so many are trained on and tested, the others only read (left_out_sources.h); 0: all
  std::size_t runs_for_calibration = runs_of_recalibration;
  std::vector<std::string> tested_sources;  ///< only their runs are tested, all others only trained on; empty: all
  std::function<void(const std::string& phase)> progress = {};
};

/// Each run once, in order of the runs; folds that were not asked for, or interrupted, are missing.
[[nodiscard]] std::vector<TestedRun> cross_validate(const std::vector<FitRun>& runs, const CalibrationSet& set,
                                                    const ParameterSpace& space, const PriorTable& priors,
                                                    const CrossValidationOptions& options);

/// All releases and variants of one framework.
struct LeftOutStack {
  std::string framework;
  std::vector<TestedRun> without;   ///< all its runs, fitted without any of them
  std::vector<std::size_t> chosen;  ///< the runs that it was then calibrated on
  std::vector<TestedRun> after;     ///< the others
};
/// Every framework with more than `runs_for_calibration` trusted runs.
[[nodiscard]] std::vector<LeftOutStack> leave_stacks_out(const std::vector<FitRun>& runs, const CalibrationSet& set,
                                                         const ParameterSpace& space, const PriorTable& priors,
                                                         const CrossValidationOptions& options);

}  // namespace plumbline
