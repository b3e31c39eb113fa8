#pragma once
/// \file own_rows.h: a software stack fitted to a handful of somebody's own runs.
///
/// Starts from a shipped stack (`like`), with its numbers and their uncertainties as priors; the rows move what they
/// can tell. What moves is written as numbers of a new stack: those of its traits, of the base, its own factor. Numbers
/// of the device stay as they ship: a few steps cannot tell a slow device from a slow framework, and the factor of the
/// stack absorbs the difference for these very devices. Kernel tables move a device (kernel_table.h).
/// The error that is stated is of rows predicted without their group (source and model; single rows where there is only
/// one group); the interval follows from it, together with the shipped stack's where rows are few.
/// Checked against: tests/unit/planner/calibrate/own_rows_test.cpp.

#include "planner/calibrate/recalibrated.h"

namespace plumbline {

struct OwnRowsOptions {
  std::string name = "own";
  std::string like;           ///< shipped stack to start from; empty: what the rows resolve to
  double stack_sigma = 0.05;  ///< of the new stack's factor around that of `like`
  FitOptions fit;
};
/// Another machine, another release, another hand: as far as releases of one container differ.
inline constexpr double sigma_of_own_stack = 0.05;
/// Another framework: as far as frameworks differ.
inline constexpr double sigma_of_like_stack = 0.10;

struct OwnNumber {
  ParameterId id;
  double before = 0;
  double after = 0;
  double sigma_before = 0;
  double sigma_after = 0;
};

struct OwnRow {
  std::size_t row = 0;
  double shipped_s = 0;  ///< predicted before
  double fitted_s = 0;
  double left_out_s = 0;  ///< predicted by a fit without its group; 0 when it is the only row
};

struct OwnCalibration {
  std::string like;
  SoftwareStack stack;
  std::vector<OwnRow> rows;
  std::vector<OwnNumber> numbers;     ///< all that the rows depend on, most moved (in sigmas) first
  std::vector<std::string> warnings;  ///< what the rows cannot identify
  double sigma = 0;                   ///< of the logarithm of a step like these
  bool by_group = false;              ///< left out by source and model; else row by row
};

/// `rows`: at least one, all of one device kind and stack. Throws InputError otherwise.
/// Mean of |predicted / measured - 1| over the rows.
struct MeanErrors {
  double shipped = 0;
  double fitted = 0;
  double left_out = 0;
};
[[nodiscard]] MeanErrors mean_errors(const OwnCalibration& found, const std::vector<FitRow>& rows);

[[nodiscard]] OwnCalibration calibrate_on(const std::vector<FitRow>& rows, const OwnRowsOptions& options);

}  // namespace plumbline
