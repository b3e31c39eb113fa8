// What calibrations found, as JSON.

#include "planner/session/calibrate/calibrated_json.h"

#include "tests/catch.h"
#include "tests/json_members.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline::calibrated_json_test {
namespace {

/// Two measured runs of the catalogue, found to be off by 10 and 30 %.
std::vector<FitRun> two_rows() {
  for (const RunSet& set : rows_of_catalogue()) {
    std::vector<FitRun> runs = fit_runs({set}, resolver_of_catalogue()).runs;
    if (runs.size() < 2) continue;
    runs.erase(runs.begin() + 2, runs.end());
    return runs;
  }
  return {};
}

TEST_CASE("a fit to own runs is written with its runs, numbers and mean errors") {
  std::vector<FitRun> runs = two_rows();
  REQUIRE(runs.size() == 2);
  runs[0].measured_s = runs[1].measured_s = 1;
  OwnCalibration found;
  found.like = "torchtitan";
  found.runs = {{0, 1.1, 1.0, 1.05}, {1, 0.7, 1.0, 0.95}};
  found.numbers = {{ParameterId::of_stack("own", "overhead"), 1, 2, 0.3, 0.1}};
  found.warnings = {"a warning"};
  const Json json = to_json(found, runs);
  CHECK(keys(json) == Names{"format", "like", "device", "rows", "numbers", "mean_error", "left_out_by", "sigma",
                            "warnings", "stack"});
  const Json& mean = *json.find("mean_error");
  CHECK(*mean.find("shipped")->if_double() == Approx(0.2));  // (0.1 + 0.3) / 2
  CHECK(*mean.find("fitted")->if_double() == Approx(0).margin(1e-12));
  CHECK(*mean.find("left_out")->if_double() == Approx(0.05));
  CHECK(*json.find("left_out_by")->if_string() == "row");
}

TEST_CASE("a fit to one group of timed collectives has no error of left-out ones") {
  LinkFit fit;
  fit.residuals = {{Collective::all_reduce, 8, 1, 20, 0.3, 0.1, 0}};
  const Json json = to_json(fit, MachineDocument{});
  CHECK(keys(json) == Names{"format", "link_factors", "residuals", "machine"});
  const Json& residual = json.find("residuals")->if_array()->front();
  CHECK(keys(residual) == Names{"collective", "ranks", "nodes", "timings", "before", "fitted", "left_out"});
  CHECK(residual.find("left_out")->is_null());
}

TEST_CASE("a fit to kernels is written with the share of a core that they had") {
  const Json json = kernel_fit_json({}, {{"gemm fp32", 12, 0.01, 0.05}}, 0.98);
  CHECK(keys(json) == Names{"coefficients", "residuals", "core_share"});
  CHECK(*json.find("core_share")->if_double() == 0.98);
  CHECK(keys(json.find("residuals")->if_array()->front()) == Names{"kind", "entries", "median", "worst"});
}

}  // namespace
}  // namespace plumbline::calibrated_json_test
