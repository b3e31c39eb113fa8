// What a whole run takes, by hand.

#include "planner/pricing/run_bill.h"

#include "core/base/errors.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"
#include "tests/sample_plan.h"

namespace plumbline {
namespace {

/// 16 GPUs; 4096 tokens of 64 sequences a step, of 2 s (1.8 to 2.4), at 20 kW.
Plan plan_of(std::int64_t tokens) {
  Plan plan = sample_plan();
  plan.training.token_budget = tokens;
  plan.prediction.step_time_s = {1.8, 2, 2.4};
  plan.prediction.joules_per_step = 40'000;
  return plan;
}

BillTerms terms() {
  BillTerms terms;
  terms.price_per_device_hour = {Dollars(3), "a test", SourceKind::published, ""};
  terms.facility.power_usage_effectiveness.value = 1.5;
  terms.facility.grid_grams_per_kwh.value = 400;
  return terms;
}

// 64 x 4096 = 262 144 tokens a step; 43 200 steps of 2 s are 86 400 s, a day; 24 h x 16 = 384 GPU-hours, $1 152;
// 20 kW x 24 h x 1.5 = 720 kWh; 720 x 0.4 = 288 kg.
TEST_CASE("a day of training on 16 GPUs is billed") {
  const RunBill bill = run_bill(plan_of(262'144LL * 43'200), terms());
  CHECK(bill.steps == 43'200);
  CHECK(bill.days.expected == Approx(1));
  CHECK(bill.days.low == Approx(0.9));
  CHECK(bill.days.high == Approx(1.2));
  CHECK(bill.gpu_hours == Approx(384));
  REQUIRE(bill.dollars);
  CHECK(bill.dollars->value() == Approx(1152));
  CHECK(bill.energy_kwh == Approx(720));
  CHECK(bill.co2_kg == Approx(288));
}

TEST_CASE("the last step of a run is a whole one") {
  CHECK(run_bill(plan_of(262'144LL * 10 + 1), terms()).steps == 11);
}

// A simulated step of 3 s where the closed form says 2 s: everything takes 3 / 2 of it, the interval too.
TEST_CASE("a step that was simulated is billed, with the relative interval of the closed form") {
  Plan plan = plan_of(262'144LL * 43'200);
  plan.prediction.simulated_step = Seconds(3);
  const Interval step = ranking_step(plan);
  CHECK(step.low == Approx(2.7));
  CHECK(step.high == Approx(3.6));
  const RunBill bill = run_bill(plan, terms());
  CHECK(bill.days.expected == Approx(1.5));
  CHECK(bill.energy_kwh == Approx(1080));
}

TEST_CASE("without a price there are no dollars, and without tokens no bill") {
  BillTerms free = terms();
  free.price_per_device_hour.reset();
  CHECK(!run_bill(plan_of(1), free).dollars);
  Plan plan = sample_plan();
  plan.training.token_budget.reset();
  CHECK_THROWS_AS(run_bill(plan, terms()), InternalError);
}

TEST_CASE("a machine's own price stands before its devices'") {
  const auto own = sourced_price(find_machine("aws-p5"));
  REQUIRE(own);
  CHECK(own->value.value() == Approx(12.29));
  const auto device = sourced_price(find_machine("dgx-h100"));
  REQUIRE(device);
  CHECK(device->value.value() == Approx(3.5));
  CHECK(!device->source.empty());
}

TEST_CASE("what a site is assumed to draw and emit has a source") {
  const Facility facility = mean_facility();
  for (const Sourced<double>& number : {facility.power_usage_effectiveness, facility.grid_grams_per_kwh}) {
    CHECK(number.source.size() > 10);
    CHECK(!number.date.empty());
  }
}

}  // namespace
}  // namespace plumbline
