#include "planner/calibrate/left_out_sources.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline::left_out_sources_test {

namespace {

std::vector<RunSet> sets_of_one_family() {
  std::vector<RunSet> sets;
  for (const RunSet& set : rows_of_catalogue())
    if (set.name == "korthikanti2022_calculon" || set.name == "zero_bubble" || set.name == "ptdp_vs_zero3")
      sets.push_back(set);
  return sets;
}

RereadRuns runs_of_one_family() {
  const std::vector<RunSet> sets = sets_of_one_family();
  return reread(fit_runs(sets, resolver_of_catalogue()).runs, sets, run_aliases(), run_assumptions());
}

LeftOutSources tested(const RereadRuns& runs) {
  CrossValidationOptions options;
  options.fit.most_iterations = 8;
  options.fit.threads = 1;
  const PriorTable priors = shipped_priors();
  const ParameterSpace space(CalibrationSet::shipped(), priors, runs.runs);
  return leave_sources_out(runs, CalibrationSet::shipped(), space, priors, options);
}

}  // namespace

TEST_CASE("Every run is read as its own and as that of an unknown framework") {
  const RereadRuns runs = runs_of_one_family();
  REQUIRE(runs.own > 30);
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < runs.own; ++i) {
    const auto place = runs.runs[i].of_unknown_framework;
    if (!place) continue;
    ++unknown;
    const FitRun& read = runs.runs[*place];
    CHECK(read.id == runs.runs[i].id);
    CHECK(CalibrationSet::shipped().software_stack(read.stack).framework == "unknown");
    CHECK(*place >= runs.own);
  }
  CHECK(unknown > 30);
}

TEST_CASE("What a source measured changes no prediction of its own runs, and others of other sources") {
  RereadRuns runs = runs_of_one_family();
  const LeftOutSources before = tested(runs);
  for (FitRun& run : runs.runs)
    if (run.source.starts_with("korthikanti2022_calculon")) run.measured_s *= 2;
  const LeftOutSources after = tested(runs);
  REQUIRE(before.framework_unknown.size() == after.framework_unknown.size());
  REQUIRE_FALSE(before.framework_known.empty());
  bool others_moved = false;
  for (std::size_t i = 0; i < before.framework_unknown.size(); ++i) {
    const LeftOutRun& one = before.framework_unknown[i];
    // Where a fit begins depends on all runs, where it ends does not, but for the last of its small steps.
    const double ratio = after.framework_unknown[i].predicted.step_s.expected / one.predicted.step_s.expected;
    const bool moved = std::abs(std::log(ratio)) > 0.01;
    if (runs.runs[one.run].source == "korthikanti2022_calculon")
      CHECK_FALSE(moved);
    else
      others_moved = others_moved || moved;
  }
  CHECK(others_moved);  // else the test above could not fail
  // All of them ran on A100: without it nothing is left to learn from, so nothing that was measured matters.
  for (std::size_t i = 0; i < before.device_unknown.size(); ++i)
    CHECK_THAT(after.device_unknown[i].predicted.step_s.expected,
               Catch::Matchers::WithinRel(before.device_unknown[i].predicted.step_s.expected, 1e-3));
}

TEST_CASE("A framework that is left out is stated as unknown, one that other sources have is read as its own") {
  const RereadRuns runs = runs_of_one_family();
  const LeftOutSources sources = tested(runs);
  for (const LeftOutRun& one : sources.framework_unknown) CHECK(one.predicted.regime == CalibrationRegime::unknown);
  REQUIRE_FALSE(sources.framework_known.empty());
  for (const LeftOutRun& one : sources.framework_known) {
    CHECK(CalibrationSet::shipped().software_stack(runs.runs[one.read].stack).framework != "unknown");
    CHECK(runs.runs[one.read].id == runs.runs[one.run].id);
    CHECK(one.predicted.step_s.low < one.predicted.step_s.expected);
  }
}

}  // namespace plumbline::left_out_sources_test
