#pragma once
/// \file left_out_sources.h: how well steps are predicted of sources that nobody has ever seen.
///
/// A source is left out as a whole, and its runs are read without what was written for them (source_rules.h). What is
/// tested is what would ship: the fitted numbers as they are written, and the intervals that `plan` states with them
/// (shipped_fit.h). Three amounts of knowledge: the framework is known from other sources; nothing of the framework is
/// known, so that its runs get the stack `unknown`; the device is known by its datasheet only (all runs of its
/// calibration are left out, from all sources). Not refitted: rules that name no framework.
/// Checked against: tests/unit/planner/calibrate/left_out_sources_test.cpp (what is tested is never seen).

#include "models/parameter_priors.h"
#include "planner/calibrate/cross_validation.h"
#include "planner/calibrate/shipped_fit.h"

namespace plumbline {

/// Runs, and the same ones as they are read without what was written for their source. Those of an unknown framework
/// are found by FitRun::of_unknown_framework.
struct RereadRuns {
  std::vector<FitRun> runs;  ///< as they are read, then what follows
  std::size_t own = 0;       ///< how many are as they are read
  /// By run, its place among `runs`; none: without the rules it cannot be asked.
  std::vector<std::optional<std::size_t>> without_rules;
};
[[nodiscard]] RereadRuns reread(std::vector<FitRun> runs, const std::vector<RunSet>& sets, const RunRuleTable& meanings,
                                const RunRuleTable& assumptions);

/// The places of those that are as they are read.
[[nodiscard]] std::vector<std::size_t> all_own(const RereadRuns& reread);

struct LeftOutRun {
  std::size_t run = 0;   ///< as it is read
  std::size_t read = 0;  ///< as it was tested
  ShippedPrediction predicted;
};
struct LeftOutSources {
  std::vector<LeftOutRun> framework_known;
  std::vector<LeftOutRun> framework_unknown;
  std::vector<LeftOutRun> device_unknown;
};
/// In order of the runs. `space`: over all of `reread.runs`.
[[nodiscard]] LeftOutSources leave_sources_out(const RereadRuns& reread, const CalibrationSet& set,
                                               const ParameterSpace& space, const PriorTable& priors,
                                               const CrossValidationOptions& options);

}  // namespace plumbline
