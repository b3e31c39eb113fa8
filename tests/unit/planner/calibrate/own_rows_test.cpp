#include "planner/calibrate/own_rows.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/io/stack_json.h"
#include "tests/catch.h"
#include "tests/unit/planner/validate/published_rows.h"

using namespace plumbline;
using Catch::Matchers::WithinRel;

namespace {

/// Some questions of one stack, measured in a world where everything takes `slower` times what ships.
std::vector<FitRow> own_runs(double slower, std::size_t count) {
  std::vector<FitRow> rows;
  for (const RowSet& set : rows_of_catalogue())
    if (set.name == "zero_bubble") rows = fit_rows({set}, resolver_of_catalogue()).rows;
  REQUIRE(rows.size() >= count);
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end());
  for (FitRow& row : rows)
    row.measured_s = slower * row.pricer.step_s(CalibrationSet::shipped().of(row.device, row.stack));
  return rows;
}

OwnRowsOptions quick() {
  OwnRowsOptions options;
  options.fit.threads = 1;
  return options;
}

}  // namespace

TEST_CASE("Runs that agree with what ships leave it as it is and narrow the interval") {
  const std::vector<FitRow> rows = own_runs(1.0, 6);
  const OwnCalibration found = calibrate_on(rows, quick());
  for (const OwnRow& row : found.rows) CHECK_THAT(row.fitted_s, WithinRel(row.shipped_s, 1e-3));
  const Calibration shipped = CalibrationSet::shipped().of(rows.front().device, rows.front().stack);
  CHECK(found.sigma < uncertainty(shipped, rows.front().run).time_sigma);
}

TEST_CASE("Runs that are all slower are predicted when they were left out, and the written stack predicts them") {
  const std::vector<FitRow> rows = own_runs(1.12, 6);
  const OwnCalibration found = calibrate_on(rows, quick());
  CHECK(found.by_group);
  for (const OwnRow& row : found.rows) {
    CHECK_THAT(row.left_out_s, WithinRel(rows[row.row].measured_s, 0.06));
    CHECK_THAT(row.fitted_s, WithinRel(rows[row.row].measured_s, 0.04));
  }
  // Through the file that a user gets.
  CalibrationSet set = CalibrationSet::shipped();
  const Json json = parse_json(to_json_text(software_stack_json(found.stack)), "mine.json");
  set.add(software_stack_from_json(JsonPlace(json, "mine.json"), set.traits(), set.stack_names()));
  for (const OwnRow& row : found.rows)
    CHECK_THAT(rows[row.row].pricer.step_s(set.of(rows[row.row].device, "own")),
               WithinRel(row.fitted_s, 1e-4));  // numbers that moved by less are left out
}

TEST_CASE("What the rows cannot tell is said") {
  const OwnCalibration found = calibrate_on(own_runs(1.0, 3), quick());
  const auto says = [&](const std::string& words) {
    return std::any_of(found.warnings.begin(), found.warnings.end(),
                       [&](const std::string& warning) { return warning.find(words) != std::string::npos; });
  };
  CHECK(says("no row has tensor parallelism"));
  CHECK(says("next to nothing about"));
  CHECK_FALSE(says("no row has a pipeline"));
}

TEST_CASE("Rows of two devices or stacks are refused by name") {
  std::vector<FitRow> rows = own_runs(1.0, 2);
  CHECK_THROWS_AS(calibrate_on({}, quick()), InputError);
  rows[1].stack = "torchtitan-2024.12";
  try {
    (void)calibrate_on(rows, quick());
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("--stack or --like") != std::string::npos);
  }
}
