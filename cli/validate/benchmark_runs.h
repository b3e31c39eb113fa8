#pragma once
/// \file benchmark_runs.h: runs that no fit has read, as docs/fidelity.md counts them: official benchmarks and reports.
///
/// A run is of an official benchmark when the `section` of its row says so ("MLPerf Training v5.1, closed division,
/// llama31_8b"); what is held out besides is a report. Every run counts, whatever its collector inferred.

#include <optional>
#include <string>
#include <vector>

#include "planner/validate/validate.h"

namespace plumbline {

/// Step times of one benchmark on one kind of device, fewest devices first.
struct BenchmarkGroup {
  std::string system;     ///< the device
  std::string benchmark;  ///< "llama31_8b"
  std::vector<RunOutcome> runs;
  [[nodiscard]] std::string name() const { return benchmark + ", " + system; }
};

[[nodiscard]] bool is_official(const RunOutcome& run);
/// By benchmark, then by device.
[[nodiscard]] std::vector<BenchmarkGroup> official_benchmarks(const Validation& validation);
/// Held-out runs of one kind that are of no official benchmark.
[[nodiscard]] std::vector<RunOutcome> public_reports(const Validation& validation, RunKind kind);

/// Of runs, whatever they prove.
[[nodiscard]] SeriesSummary summarize(const std::vector<RunOutcome>& runs);
/// By how much the error with its sign grows where the devices double: least squares over the logarithm of their
/// number. Nothing below three different numbers.
[[nodiscard]] std::optional<double> drift_per_doubling(const std::vector<RunOutcome>& runs);

}  // namespace plumbline
