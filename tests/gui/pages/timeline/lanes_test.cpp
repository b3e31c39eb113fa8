// What each stage does at every instant: the simulation's own times.
#include "gui/pages/timeline/lanes.h"

#include "gui/pages/timeline/executions.h"
#include "planner/session/simulate/simulate.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"
#include "tests/sample_record.h"

namespace plumbline::gui {
namespace {

SimulatedPlan simulated_plan(const AskedPlan& asked) { return session::simulate(priced(asked)->answer)->simulated; }

Picoseconds busy_time(const Lane& lane) {
  Picoseconds sum(0);
  for (const Segment& segment : lane.segments) sum += segment.span.length();
  return sum;
}

bool is_disjoint(const Lane& lane) {
  for (std::size_t i = 1; i < lane.segments.size(); ++i)
    if (lane.segments[i].span.start < lane.segments[i - 1].span.end) return false;
  return true;
}

TEST_CASE("what a lane leaves free is the stage's idle time") {
  AskedPlan asked = pipelined();
  asked.strategy.data_parallel = 2;
  const SimulatedPlan plan = simulated_plan(asked);
  const Simulation& s = plan.simulation;
  const std::vector<Lane> lanes = stage_lanes(plan);
  REQUIRE(lanes.size() == 4);
  const Picoseconds overhead = s.time[TimeCause::step_overhead];
  for (std::size_t stage = 0; stage < lanes.size(); ++stage) {
    CHECK(is_disjoint(lanes[stage]));
    CHECK(busy_time(lanes[stage]) / (s.step() - overhead - s.idle[stage]) == Approx(1).epsilon(1e-6));
  }
}

TEST_CASE("every micro-batch of a long program is in the lanes") {
  AskedPlan asked = pipelined();
  asked.global_batch = 800;
  const SimulatedPlan plan = simulated_plan(asked);
  REQUIRE(plan.simulation.left_out.micro_batches > 0);
  SimulationOptions whole;
  const SharedPlan again = priced(asked);
  const SimulatedPlan all = simulated(again->answer.question, again->answer.strategy, whole);
  REQUIRE(all.simulation.left_out.micro_batches == 0);
  const std::vector<Lane> lanes = stage_lanes(plan);
  const std::vector<Lane> expected = stage_lanes(all);
  for (std::size_t stage = 0; stage < lanes.size(); ++stage) {
    REQUIRE(lanes[stage].segments.size() == expected[stage].segments.size());
    for (std::size_t i = 0; i < lanes[stage].segments.size(); ++i) {
      const Segment& one = lanes[stage].segments[i];
      const Segment& other = expected[stage].segments[i];
      if (one.span == other.span && one.micro_batch == other.micro_batch && one.activity == other.activity) continue;
      FAIL("stage " << stage << ", segment " << i);
    }
  }
}

TEST_CASE("streams of a stage have lanes without crossings") {
  AskedPlan asked = pipelined();
  asked.strategy.tensor_parallel = 2;
  const SimulatedPlan plan = simulated_plan(asked);
  const std::vector<Lane> streams = stream_lanes(plan, 1);
  std::set<std::string> names;
  for (const Lane& lane : streams) {
    names.insert(lane.name);
    CHECK(is_disjoint(lane));
    CHECK_FALSE(lane.segments.empty());
  }
  CHECK(names.contains("compute"));
  CHECK(names.contains("tensor"));
  CHECK(names.contains("pipeline"));
}

TEST_CASE("a segment is found by its instant") {
  const Lane lane{"stage 0",
                  {{{Picoseconds(10), Picoseconds(20)}, Activity::forward, 0, 0},
                   {{Picoseconds(30), Picoseconds(40)}, Activity::backward, 0, 0}},
                  {}};
  CHECK(segment_at(lane, 5) == nullptr);
  CHECK(segment_at(lane, 10) == lane.segments.data());
  CHECK(segment_at(lane, 25) == nullptr);
  CHECK(segment_at(lane, 39) == &lane.segments[1]);
  CHECK(segment_at(lane, 40) == nullptr);
}

TEST_CASE("the lane of a run has the times of its record, and what is alongside compute shows in its gaps") {
  RunRecord record = sample_record();
  const std::vector<Lane> lanes = measured_lanes(record, 2);
  REQUIRE(lanes.size() == 2);
  for (const Lane& lane : lanes) CHECK(is_disjoint(lane));
  const Segment& first = lanes[0].segments.front();
  CHECK(first.activity == Activity::forward);
  CHECK(first.span == Span{Picoseconds(10'000), Picoseconds(110'000)});
  record.traced_step = -1;
  CHECK(measured_lanes(record, 2).empty());
  CHECK(measured_lanes(sample_record(), 3).empty());  // of a plan with more stages
}

}  // namespace
}  // namespace plumbline::gui
