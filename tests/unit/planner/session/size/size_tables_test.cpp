// How many GPUs a run takes, in tables and sentences.

#include "planner/session/size/size.h"

#include "tests/sample_plan.h"
#include "tests/unit/planner/present/whole_table.h"

namespace plumbline::present {
namespace {

using session::Meets;
using session::Scaling;
using session::SizeAnswer;
using session::SizeRow;

SizeRow row_of(std::int64_t devices, double days, double dollars, Meets meets) {
  SizeRow row;
  row.devices = devices;
  row.global_batch = 512;
  row.plan = sample_plan();
  row.step_s = {1, 2, 3};
  row.efficiency = 1;
  row.bill.days = {days / 2, days, days * 2};
  row.bill.dollars = Dollars(dollars);
  row.bill.energy_kwh = 2500;
  row.bill.co2_kg = 1200;
  row.meets = meets;
  return row;
}

SizeAnswer sample_answer() {
  SizeAnswer answer;
  answer.request.limits.days = 30;
  SizeRow none;
  none.devices = 8;
  none.global_batch = 512;
  none.reason = "stage 0 needs 90 GiB";
  answer.rows = {none, row_of(16, 50, 1000, Meets::no), row_of(32, 28, 1500, Meets::expected)};
  answer.least = 2;
  return answer;
}

TEST_CASE("a size is a table of what fits and a table of plans and reasons") {
  const SizeAnswer answer = sample_answer();
  const Table figures = size_table(answer, Scaling::strong);
  check_whole(figures);
  REQUIRE(figures.rows.size() == 2);
  CHECK(cell(figures, 0, "days").text == "50.0 (25.0-100)");
  CHECK(cell(figures, 1, "days").text == "28.0 (14.0-56.0) *");
  CHECK(cell(figures, 1, "dollars").text == "1 500");
  CHECK(cell(figures, 1, "energy").text == "2.5");
  CHECK(cell(figures, 1, "co2").text == "1.2");
  const Table plans = size_plan_table(answer, Scaling::strong);
  check_whole(plans);
  REQUIRE(plans.rows.size() == 3);
  CHECK(cell(plans, 0, "plan").text == "stage 0 needs 90 GiB");
  CHECK(size_table(answer, Scaling::weak).rows.empty());
}

TEST_CASE("batches are shown where they differ, dollars where there is a price") {
  SizeAnswer answer = sample_answer();
  for (SizeRow& row : answer.rows) row.bill.dollars.reset();
  answer.rows[2].global_batch = 1024;
  std::vector<std::string> shown = titles(size_table(answer, Scaling::strong));
  CHECK(std::find(shown.begin(), shown.end(), "batch") != shown.end());
  CHECK(std::find(shown.begin(), shown.end(), "$") == shown.end());
}

TEST_CASE("the answer is a sentence: the least within the limits, or the nearest") {
  SizeAnswer answer = sample_answer();
  CHECK(size_answer_words(answer) ==
        "The least GPUs within 30.0 days: 32, 28.0 days, $1 500, 2 500 kWh, 1 200 kg CO2; at the upper end of the "
        "interval they are exceeded.");
  answer.least.reset();
  answer.nearest = 2;
  CHECK(size_answer_words(answer) ==
        "No number of GPUs here is within 30.0 days; nearest: 32, 28.0 days, $1 500, 2 500 kWh, 1 200 kg CO2.");
  answer.request.limits = {};
  CHECK(size_answer_words(answer).empty());
}

TEST_CASE("every number that the bill rests on is said with its source") {
  SizeAnswer answer = sample_answer();
  answer.terms.price_per_device_hour = {Dollars(3.5), "a list", SourceKind::assumed, ""};
  const std::vector<std::string> all = size_assumptions(answer);
  REQUIRE(all.size() == 5);
  CHECK(all[0] == "$3.50 per GPU-hour (a list, assumed)");
  CHECK(all[3].find("PUE 1.56 (Uptime Institute") == 0);
  CHECK(all[4].find("480 g CO2 per kWh (Ember") == 0);
}

}  // namespace
}  // namespace plumbline::present
