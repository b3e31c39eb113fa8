#include "planner/calibrate/own_runs.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/io/stack_json.h"
#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline::own_runs_test {

using Catch::Matchers::WithinRel;

namespace {

/// Some questions of one stack, measured in a world where everything takes `slower` times what ships.
std::vector<FitRun> own_runs(double slower, std::size_t count) {
  std::vector<FitRun> runs;
  for (const RunSet& set : rows_of_catalogue())
    if (set.name == "zero_bubble") runs = fit_runs({set}, resolver_of_catalogue()).runs;
  REQUIRE(runs.size() >= count);
  runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(count), runs.end());
  for (FitRun& run : runs)
    run.measured_s = slower * run.pricer.step_s(CalibrationSet::shipped().of(run.device, run.stack));
  return runs;
}

OwnRunsOptions quick() {
  OwnRunsOptions options;
  options.fit.threads = 1;
  return options;
}

}  // namespace

TEST_CASE("Runs that agree with what ships leave it as it is and narrow the interval") {
  const std::vector<FitRun> runs = own_runs(1.0, 6);
  const OwnCalibration found = calibrate_on(runs, quick());
  for (const OwnRun& run : found.runs) CHECK_THAT(run.fitted_s, WithinRel(run.shipped_s, 1e-3));
  const Calibration shipped = CalibrationSet::shipped().of(runs.front().device, runs.front().stack);
  CHECK(found.sigma < uncertainty(shipped, runs.front().features).time_sigma);
}

TEST_CASE("Runs that are all slower are predicted when they were left out, and the written stack predicts them") {
  const std::vector<FitRun> runs = own_runs(1.12, 6);
  const OwnCalibration found = calibrate_on(runs, quick());
  CHECK(found.by_group);
  for (const OwnRun& run : found.runs) {
    CHECK_THAT(run.left_out_s, WithinRel(runs[run.run].measured_s, 0.06));
    CHECK_THAT(run.fitted_s, WithinRel(runs[run.run].measured_s, 0.04));
  }
  // Through the file that a user gets.
  CalibrationSet set = CalibrationSet::shipped();
  const Json json = parse_json(to_json_text(software_stack_json(found.stack)), "mine.json");
  set.add(software_stack_from_json(JsonPlace(json, "mine.json"), set.axis_table(), set.stack_names()));
  for (const OwnRun& run : found.runs)
    CHECK_THAT(runs[run.run].pricer.step_s(set.of(runs[run.run].device, "own")),
               WithinRel(run.fitted_s, 1e-4));  // numbers that moved by less are left out
}

TEST_CASE("A stack of own runs states their error, whatever its parent says of each kind of network") {
  const std::string parent = "megatron-bridge-26.02";
  REQUIRE_FALSE(CalibrationSet::shipped().stack(parent).residuals.time_by_network.empty());
  std::vector<FitRun> runs = own_runs(1.0, 3);
  for (FitRun& run : runs) {
    run.stack = parent;
    run.measured_s = run.pricer.step_s(CalibrationSet::shipped().of(run.device, parent));
  }
  const OwnCalibration found = calibrate_on(runs, quick());
  REQUIRE(found.stack.residuals);
  for (const char* const network : {"dense", "moe"})
    CHECK(found.stack.residuals->time_of(network).sigma.value == found.sigma);
}

TEST_CASE("What the runs cannot tell is said") {
  const OwnCalibration found = calibrate_on(own_runs(1.0, 3), quick());
  const auto says = [&](const std::string& words) {
    return std::any_of(found.warnings.begin(), found.warnings.end(),
                       [&](const std::string& warning) { return warning.find(words) != std::string::npos; });
  };
  CHECK(says("no run has tensor parallelism"));
  CHECK(says("next to nothing about"));
  CHECK_FALSE(says("no run has a pipeline"));
}

TEST_CASE("Runs of two devices or stacks are refused by name") {
  std::vector<FitRun> runs = own_runs(1.0, 2);
  CHECK_THROWS_AS(calibrate_on({}, quick()), InputError);
  runs[1].stack = "torchtitan-2024.12";
  try {
    (void)calibrate_on(runs, quick());
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("--stack or --like") != std::string::npos);
  }
}

}  // namespace plumbline::own_runs_test
