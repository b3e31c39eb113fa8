#pragma once
/// \file cross_validation.h: how well steps are predicted that the calibration never saw.
///
/// Three tests of growing distance. Folds: rows are tested by source and model, everything that was ever fitted is
/// fitted anew on the other folds. A software stack left out: nothing of it, then with a calibration from three of its
/// rows (informative_rows.h). Both start from priors that no training run decided (models/calibrations/priors.json).
/// Not refitted: rules that complete a row's question (models/row_rules); memory decides an unpublished
/// recompute, never time.
/// Checked against: tests/unit/planner/calibrate/cross_validation_test.cpp (what is tested is never seen; constants
/// that made synthetic rows are found again).

#include <functional>

#include "planner/calibrate/trained.h"

namespace plumbline {

/// What a calibration knew of a tested row: by the rows of its stack on its class of devices that were trained on.
[[nodiscard]] CalibrationRegime regime_of(std::size_t rows);

struct TestedRow {
  std::size_t row = 0;  ///< index
  Interval predicted;
  CalibrationRegime regime = CalibrationRegime::unknown;
  std::size_t fold = 0;  ///< that it was tested in, from 1; 0: with its stack
};

struct CrossValidationOptions {
  FitOptions fit;
  std::size_t folds = 6;
  std::size_t only_fold = 0;  ///< from 1; 0: all
  std::size_t rows_for_calibration = rows_of_recalibration;
  std::vector<std::string> tested_sources;  ///< only their rows are tested, all others only trained on; empty: all
  std::function<void(const std::string& phase)> progress = {};
};

/// Each row once, in order of the rows; folds that were not asked for, or interrupted, are missing.
[[nodiscard]] std::vector<TestedRow> cross_validate(const std::vector<FitRow>& rows, const ParameterSpace& space,
                                                    const CrossValidationOptions& options);

/// All releases and variants of one framework.
struct LeftOutStack {
  std::string framework;
  std::vector<TestedRow> without;   ///< all its rows, fitted without any of them
  std::vector<std::size_t> chosen;  ///< the rows that it was then calibrated on
  std::vector<TestedRow> after;     ///< the others
};
/// Every framework with more than `rows_for_calibration` trusted rows.
[[nodiscard]] std::vector<LeftOutStack> leave_stacks_out(const std::vector<FitRow>& rows, const CalibrationSet& set,
                                                         const ParameterSpace& space,
                                                         const CrossValidationOptions& options);

}  // namespace plumbline
