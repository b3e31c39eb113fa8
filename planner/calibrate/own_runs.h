#pragma once
/// \file own_runs.h: a software stack fitted to a handful of somebody's own runs.
///
/// Starts from a shipped stack (`like`), with its numbers and their uncertainties as priors; the runs move what they
/// can tell. What moves is written as numbers of a new stack: those of its axis values, of the base, its own factor.
/// Numbers of the device stay as they ship: a few steps cannot tell a slow device from a slow framework, and the factor
/// of the stack absorbs the difference for these very devices. Kernel tables move a device (kernel_table.h).
/// The error that is stated is of runs predicted without their group (source and model; single runs where there is only
/// one group); the interval follows from it, together with the shipped stack's where runs are few.
/// Checked against: tests/unit/planner/calibrate/own_runs_test.cpp.

#include "planner/calibrate/recalibrated.h"

namespace plumbline {

struct OwnRunsOptions {
  std::string name = "own";
  std::string like;           ///< shipped stack to start from; empty: what the runs resolve to
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

struct OwnRun {
  std::size_t run = 0;
  double shipped_s = 0;  ///< predicted before
  double fitted_s = 0;
  double left_out_s = 0;  ///< predicted by a fit without its group; 0 when it is the only run
};

struct OwnCalibration {
  std::string like;
  SoftwareStack stack;
  std::vector<OwnRun> runs;
  std::vector<OwnNumber> numbers;     ///< all that the runs depend on, most moved (in sigmas) first
  std::vector<std::string> warnings;  ///< what the runs cannot identify
  double sigma = 0;                   ///< of the logarithm of a step like these
  bool by_group = false;              ///< left out by source and model; else run by run
};

/// Mean of |predicted / measured - 1| over the runs.
struct MeanErrors {
  double shipped = 0;
  double fitted = 0;
  double left_out = 0;
};
[[nodiscard]] MeanErrors mean_errors(const OwnCalibration& found, const std::vector<FitRun>& runs);

/// `runs`: at least one, all of one device kind and stack. Throws InputError otherwise.
[[nodiscard]] OwnCalibration calibrate_on(const std::vector<FitRun>& runs, const OwnRunsOptions& options);

}  // namespace plumbline
