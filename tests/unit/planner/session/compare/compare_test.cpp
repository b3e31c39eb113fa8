// A plan and a record in, their comparison out.

#include "planner/session/compare/compare.h"

#include "tests/catch.h"
#include "tests/record_as_predicted.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

TEST_CASE("a record that holds what the plan predicts is equal to it") {
  const PricedQuestion asked = estimate(runnable_request());
  const RunRecord record = record_as_predicted(asked.plan, simulated_as_run(asked));
  const auto comparison = compare(asked, record, "m.json");
  REQUIRE(comparison);
  CHECK(comparison->bytes_are_equal());
  CHECK(comparison->predicted_step_s.expected == asked.plan.prediction.step_time_s.expected);
}

TEST_CASE("a record of another plan is refused by its name") {
  const PricedQuestion asked = estimate(runnable_request());
  RunRecord record = record_as_predicted(asked.plan, simulated_as_run(asked));
  record.plan_fingerprint = "0000000000000000";
  CHECK(refusal([&] { return compare(asked, record, "m.json"); }).find("m.json:/plan_fingerprint: ") == 0);
}

TEST_CASE("a comparison that is stopped has no answer") {
  const PricedQuestion asked = estimate(runnable_request());
  const RunRecord record = record_as_predicted(asked.plan, simulated_as_run(asked));
  std::stop_source source;
  source.request_stop();
  Task task;
  task.stop = source.get_token();
  CHECK(!compare(asked, record, "m.json", task));
}

}  // namespace
}  // namespace plumbline::session
