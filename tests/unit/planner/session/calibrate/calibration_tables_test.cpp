#include "planner/session/calibrate/calibrate.h"

#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline::present {
namespace {

/// Two runs of a published source, as if a fit had found these seconds.
TEST_CASE("a run's errors are of what was predicted over what was measured; none where nothing was left out") {
  std::vector<FitRun> runs;
  for (const RunSet& set : rows_of_catalogue())
    if (set.name == "zero_bubble") runs = fit_runs({set}, resolver_of_catalogue()).runs;
  REQUIRE(runs.size() > 2);
  OwnCalibration found;
  found.runs = {{2, 1.1 * runs[2].measured_s, 0.98 * runs[2].measured_s, 1.05 * runs[2].measured_s},
                {0, runs[0].measured_s, runs[0].measured_s, 0}};
  const Table table = calibrated_runs_table(found, runs);
  REQUIRE(table.rows.size() == 2);
  for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
  CHECK(table.rows[0][0].text == runs[2].id);
  CHECK(table.rows[0][1].number == runs[2].measured_s);
  CHECK(table.rows[0][2].text == "+10.0 %");
  CHECK(table.rows[0][3].text == "-2.0 %");
  CHECK(table.rows[0][4].number.value() == Approx(5));
  CHECK(table.rows[1][2].text == "0.0 %");
  CHECK(table.rows[1][4].text == "-");
  CHECK_FALSE(table.rows[1][4].number);
}

TEST_CASE("numbers have three significant digits, at most nine after the point, and the first of them are shown") {
  OwnCalibration found;
  const ParameterId id = ParameterId::of_stack("own", "step_factor");
  found.numbers = {{id, 1.23456, 0.000123456, 0.1, 0.05}, {id, 1234.2, 0, 0.2, 0.2}, {id, 1, 1, 1, 1}};
  const Table table = calibrated_numbers_table(found, 2);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0][0].text == to_text(id));
  CHECK(table.rows[0][1].text == "1.23");
  CHECK(table.rows[0][2].text == "0.000123");
  CHECK(table.rows[0][3].text == "5.0 %");
  CHECK(table.rows[0][4].text == "10.0 %");
  CHECK(table.rows[1][1].text == "1234");
  CHECK(table.rows[1][2].text == "0");
}

}  // namespace
}  // namespace plumbline::present
