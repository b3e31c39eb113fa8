// Orders written as runs, and read back.

#include "planner/launch/order_runs.h"

#include "core/plan/pipeline_schedule.h"
#include "core/program/compute_schedule.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

std::size_t actions_in(const std::vector<OrderRun>& runs) {
  std::size_t count = 0;
  for (const OrderRun& run : runs) count += run.actions.size();
  return count;
}

// Rank 0 of two under 1F1B with 6 micro-batches: F0 F1, then B0 F2, B1 F3, B2 F4, B3 F5, then B4 B5.
TEST_CASE("the steady state of 1F1B is one run") {
  const RankOrder order = compute_schedule(Schedule::one_f_one_b, {2, 1, 6}).ranks.front();
  const std::vector<OrderRun> runs = order_runs(order, 8);
  REQUIRE(runs.size() == 3);
  CHECK(runs[0] == OrderRun{{{ActionKind::forward, 0, 0, Overlap::none}}, 2, 1});
  CHECK(runs[1].times == 4);
  CHECK(runs[1].step == 1);
  CHECK(runs[1].actions ==
        RankOrder{{ActionKind::backward, 0, 0, Overlap::none}, {ActionKind::forward, 0, 2, Overlap::none}});
  CHECK(expanded(runs) == order);
}

TEST_CASE("the order of every schedule is read back from its runs") {
  for (const Schedule schedule : all_schedules)
    for (const std::int32_t p : {1, 2, 3, 4})
      for (const std::int32_t v : {1, 2, 3})
        for (const std::int32_t m : {1, 4, 12, 24}) {
          if (schedule_fault(schedule, p, v, m)) continue;
          for (const RankOrder& order : compute_schedule(schedule, {p, v, m}).ranks)
            REQUIRE(expanded(order_runs(order, 8 * p * v)) == order);
        }
}

TEST_CASE("what is written does not grow with the micro-batches") {
  for (const Schedule schedule : {Schedule::gpipe, Schedule::one_f_one_b, Schedule::interleaved, Schedule::zb_h1}) {
    const std::int32_t v = schedule == Schedule::interleaved ? 2 : 1;
    const RankOrder order = compute_schedule(schedule, {4, v, 4000}).ranks[1];
    CHECK(actions_in(order_runs(order, 64)) < 120);
  }
}

}  // namespace
}  // namespace plumbline
