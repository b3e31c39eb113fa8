#pragma once
/// \file fit_run.h: measured steps as a fit sees them: what was measured, how much it weighs, with whom it is left out.
///
/// Only runs with a time; repetitions of one question count once, the fastest. A run's group is its source and model:
/// runs of one group share what is peculiar to them, so a group is fitted or tested as a whole.

#include <optional>
#include <string>
#include <vector>

#include "planner/calibrate/run_pricer.h"
#include "planner/pricing/trust.h"
#include "planner/validate/validate.h"

namespace plumbline {

/// The classes that errors are reported by.
enum class RunClass : std::uint8_t {
  a100_dense,
  h100_dense,
  h100_500w_dense,
  v100_dense,
  blackwell_dense,
  mixture,
  other
};
inline constexpr std::array all_run_classes{RunClass::a100_dense, RunClass::h100_dense,      RunClass::h100_500w_dense,
                                            RunClass::v100_dense, RunClass::blackwell_dense, RunClass::mixture,
                                            RunClass::other};
[[nodiscard]] std::string_view to_text(RunClass run_class);

struct FitRun {
  std::string id;
  std::string source;
  std::string model;
  std::string release;   ///< of the software, as published
  std::string group;     ///< left out as a whole
  std::string question;  ///< runs that differ only in how they are parallelised share it (for ranking)
  Device device;
  std::string stack;
  RunClass run_class = RunClass::other;
  RunTrust trust = RunTrust::trusted;
  bool fine_tuning = false;
  double measured_s = 0;
  std::vector<double> repetitions_s;  ///< all measurements of exactly this question
  double weight = 1;                  ///< 0: doubtful, predicted but not fitted
  RunFeatures features;               ///< as calibrations remember it
  RunPricer pricer;
  /// Place among the runs of the same one, read as of a framework that no rule names (left_out_sources.h).
  std::optional<std::size_t> of_unknown_framework = {};
};

/// A stack with this many runs on a class of devices counts as calibrated there; with fewer, as known from a few.
inline constexpr std::size_t runs_of_calibrated = 8;

struct FitRuns {
  std::vector<FitRun> runs;
  std::vector<SkippedRun> skipped;
};

/// In the order of the sets; runs of sets that are held out are skipped. Never throws for what a run says.
[[nodiscard]] FitRuns fit_runs(const std::vector<RunSet>& sets, const RunResolver& resolver);

}  // namespace plumbline
