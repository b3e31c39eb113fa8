// A priced question simulated: as scheduled, in an order of one's own, with slow stages.

#include "planner/session/simulate/simulate.h"

#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

PricedQuestion piped() {
  StrategyRequest request = small_request();
  request.strategy.strategy.pipeline_stages = 2;
  return estimate(request);
}

TEST_CASE("a simulation runs the schedule of the strategy") {
  const PricedQuestion asked = piped();
  bool ended = false;
  Task task;
  task.end_of_phase = [&](std::string_view phase) { ended = phase == "simulated"; };
  const auto answer = simulate(asked, {}, task);
  REQUIRE(answer);
  CHECK(ended);
  SimulationOptions short_program;
  short_program.extent = Extent::informative;
  CHECK(answer->simulated.simulation.step() ==
        simulated(asked.question, asked.strategy, short_program).simulation.step());
  CHECK(!answer->step_at_speed_1);
  CHECK(order_of(asked, {}) == compute_schedule(Schedule::one_f_one_b, pipeline_shape(asked.strategy)));
  const SimulationSetting setting = setting_of(asked, *answer);
  CHECK(setting.schedule == "1f1b");
  CHECK(!setting.order);
}

TEST_CASE("an order of one's own is simulated in place of the schedule's") {
  const PricedQuestion asked = piped();
  SimulationRequest request;
  request.order = compute_schedule(Schedule::gpipe, pipeline_shape(asked.strategy));
  request.order_name = "mine.csv";
  const auto answer = simulate(asked, request);
  REQUIRE(answer);
  CHECK(order_of(asked, request) == *request.order);
  CHECK(setting_of(asked, *answer).order == "mine.csv");
  // GPipe keeps every micro-batch's activations until the backward pass begins.
  CHECK(answer->simulated.simulation.peak_memory() > simulate(asked)->simulated.simulation.peak_memory());
}

TEST_CASE("a slow stage makes the step longer, and the step without it is compared") {
  const PricedQuestion asked = piped();
  SimulationRequest request;
  request.stage_speeds = {1, 0.5};
  const auto answer = simulate(asked, request);
  REQUIRE(answer);
  REQUIRE(answer->step_at_speed_1);
  CHECK(*answer->step_at_speed_1 == simulate(asked)->simulated.simulation.step());
  CHECK(answer->simulated.simulation.step() > *answer->step_at_speed_1);
}

TEST_CASE("a simulation that is stopped before it simulates has no answer") {
  std::stop_source source;
  source.request_stop();
  Task task;
  task.stop = source.get_token();
  CHECK(!simulate(piped(), {}, task));
}

TEST_CASE("orders of another shape and speeds that are none are refused") {
  const PricedQuestion asked = piped();
  SimulationRequest request;
  request.stage_speeds = {1};
  CHECK(refusal([&] { return simulate(asked, request); }) ==
        "stage speeds: 1 for 2 stages; expected one for each pipeline stage, or none");
  request.stage_speeds = {1, 0};
  CHECK(refusal([&] { return simulate(asked, request); }) ==
        "stage speeds: 0.000; expected a speed from 0.01 to 100; 1 is as priced");
  request = {};
  request.order = compute_schedule(Schedule::gpipe, {4, 1, 2});
  CHECK(refusal([&] { return simulate(asked, request); }) ==
        "order: is one of another pipeline; expected stages, chunks and micro-batches of the strategy");
}

}  // namespace
}  // namespace plumbline::session
