// How many GPUs a run takes, as the JSON that scripts read.

#include "planner/session/size/size.h"

#include "tests/catch.h"
#include "tests/json_members.h"
#include "tests/sample_plan.h"

namespace plumbline::session::size_json_test {
namespace {

SizeAnswer found() {
  SizeAnswer answer;
  answer.request.search.question.model = "tiny";
  answer.request.limits.days = 30;
  SizeRow row;
  row.devices = 16;
  row.nodes = 2;
  row.global_batch = 64;
  row.plan = sample_plan();
  row.step_s = {1, 2, 3};
  row.bill.dollars = Dollars(1000);
  row.meets = Meets::expected;
  SizeRow none;
  none.devices = 8;
  none.reason = "1 GiB too much";
  answer.rows = {none, row};
  answer.least = 1;
  return answer;
}

TEST_CASE("a size is written as plumbline.size/1") {
  const Json json = to_json(found());
  CHECK(keys(json) == Names{"format", "question", "assumptions", "rows", "least", "nearest", "complete"});
  CHECK(*at(json, "format").if_string() == size_format);
  CHECK(*at(at(json, "least"), "row").if_integer() == 1);
  CHECK(*at(at(json, "least"), "devices").if_integer() == 16);
  CHECK(at(json, "nearest").is_null());
  CHECK(*at(at(json, "question"), "days").if_double() == 30);
  CHECK(at(at(json, "question"), "budget_usd").is_null());
}

TEST_CASE("a row has figures and a plan, or a reason") {
  const Json json = to_json(found());
  const Json::Array& rows = *at(json, "rows").if_array();
  REQUIRE(rows.size() == 2);
  for (const Json& row : rows)
    CHECK(keys(row) == Names{"scaling", "devices", "nodes", "global_batch", "run", "plan", "reason", "complete"});
  CHECK(at(rows[0], "run").is_null());
  CHECK(at(rows[0], "plan").is_null());
  CHECK(*at(rows[0], "reason").if_string() == "1 GiB too much");
  CHECK(keys(at(rows[1], "run")) == Names{"step_time_s", "tokens_per_s", "mfu", "efficiency", "steps", "days",
                                          "gpu_hours", "dollars", "energy_kwh", "co2_kg", "within_limits"});
  CHECK(*at(at(rows[1], "run"), "within_limits").if_string() == "expected");
  CHECK(*at(at(rows[1], "plan"), "format").if_string() == "plumbline.plan/1");
}

TEST_CASE("what dollars, energy and emissions rest on is written with its source") {
  SizeAnswer answer = found();
  CHECK(at(to_json(answer), "assumptions").if_array()->size() == 4);  // nobody knows a price
  answer.terms.price_per_device_hour = {Dollars(2), "a list", SourceKind::published, ""};
  const Json json = to_json(answer);
  const Json& price = at(json, "assumptions").if_array()->front();
  CHECK(keys(price) == Names{"name", "value", "unit", "source", "kind"});
  CHECK(*at(price, "value").if_double() == 2);
}

TEST_CASE("without limits nothing is within them") {
  SizeAnswer answer = found();
  answer.request.limits = {};
  const Json json = to_json(answer);
  CHECK(at(at((*at(json, "rows").if_array())[1], "run"), "within_limits").is_null());
}

}  // namespace
}  // namespace plumbline::session::size_json_test
