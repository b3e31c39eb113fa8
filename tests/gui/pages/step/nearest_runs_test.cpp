// Measured runs most like a plan, with the errors that `plan validate` prints.
#include "gui/pages/step/nearest_runs.h"

#include "models/measurement_catalog.h"
#include "planner/pricing/trust.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"

namespace plumbline::gui {
namespace {

RunFeatures sized(std::int64_t gpus, std::int64_t hidden) {
  RunFeatures features;
  features.device = "H100-SXM-80GB";
  features.format = "bf16";
  features.network = "dense";
  features[RunScale::gpus] = gpus;
  features[RunScale::hidden] = hidden;
  return features;
}

TEST_CASE("a run is as far away as its sizes are doubled, and further where its kind is another") {
  CHECK(distance(sized(8, 4096), sized(8, 4096)) == 0);
  CHECK(distance(sized(8, 4096), sized(32, 4096)) == Approx(2));
  CHECK(distance(sized(32, 2048), sized(8, 4096)) == Approx(3));
  RunFeatures mixture = sized(8, 4096);
  mixture.network = "moe";
  CHECK(distance(sized(8, 4096), mixture) == Approx(2));
}

TEST_CASE("nearest runs come first, and those that prove less not at all") {
  RunOutcome near;
  near.id = "near";
  near.features = sized(16, 4096);
  RunOutcome far = near;
  far.id = "far";
  far.features = sized(1024, 4096);
  RunOutcome doubtful = near;
  doubtful.trust = RunTrust::doubtful;
  const std::vector<RunOutcome> runs = nearest({far, doubtful, near}, sized(8, 4096));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].id == "near");
  CHECK(runs[1].id == "far");
}

TEST_CASE("errors of measured runs are those of plan validate") {
  MeasuredRuns measured;
  const std::vector<RunOutcome> runs = measured.of_device("V100-SXM2-32GB", {});
  REQUIRE_FALSE(runs.empty());
  const RunResolver resolver({run_aliases()}, run_assumptions());
  const Validation validation = validate(published_runs(), resolver, {{"V100-SXM2-32GB"}, {}});
  REQUIRE(runs.size() == validation.runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CHECK(runs[i].id == validation.runs[i].id);
    CHECK(runs[i].pair.predicted.expected == validation.runs[i].pair.predicted.expected);
  }
  const present::Table table = near_runs_table(nearest(runs, runs.front().features));
  CHECK(table.rows.size() <= most_near_runs);
  CHECK(table.rows.front().size() == table.columns.size());
}

TEST_CASE("a device without measured runs has none near") {
  MeasuredRuns measured;
  CHECK(measured.of_device("no such device", {}).empty());
}

}  // namespace
}  // namespace plumbline::gui
