// Laws of the evaluators, over random orders: event evaluation is the longest path of the explicit graph, the dry run
// finds a cycle exactly when that graph has one, the period is the largest cycle ratio.

#include "core/program/order_makespan.h"

#include "core/cost/pipeline_time.h"
#include "core/program/cycle_ratio.h"
#include "tests/catch.h"
#include "tests/explicit_graph.h"
#include "tests/random_schedules.h"
#include "tests/schedules.h"

namespace plumbline {
namespace {

TEST_CASE("the dry run stops exactly when the dependencies have a cycle, and names a true one") {
  RandomSchedules random;
  int stuck = 0;
  for (int n = 0; n < 4000; ++n) {
    const ComputeSchedule schedule = random.schedule(random.between(0, 4));
    const ExplicitGraph explicit_graph(schedule, random.times(schedule.shape));
    const PlayOrder play = play_order(schedule);
    INFO(to_schedule_csv(schedule));
    REQUIRE_FALSE(action_fault(schedule));
    REQUIRE(play.deadlock.has_value() == explicit_graph.has_cycle());
    if (!play.deadlock) continue;
    ++stuck;
    const std::vector<Wait>& cycle = play.deadlock->cycle;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const Wait& next = cycle[(i + 1) % cycle.size()];
      REQUIRE(cycle[i].needed.rank == next.waiting.rank);
      REQUIRE(cycle[i].needed.position >= next.waiting.position);
    }
  }
  CHECK(stuck > 400);
  CHECK(stuck < 3600);
}

TEST_CASE("event evaluation is the longest path, and the period the largest cycle ratio") {
  RandomSchedules random;
  int played = 0;
  for (int n = 0; n < 6000; ++n) {
    const ComputeSchedule schedule = random.schedule(random.between(0, 4));
    const StageTimes times = random.times(schedule.shape);
    const PlayOrder play = play_order(schedule);
    if (play.deadlock) continue;
    ++played;
    const ExplicitGraph explicit_graph(schedule, times);
    INFO(to_schedule_csv(schedule));
    std::int64_t longest = 0;
    for (const auto& end : explicit_graph.ends(explicit_graph.first)) longest = std::max(longest, end.value_or(0));
    REQUIRE(order_timing(play, times).makespan().value() == longest);
    // A cycle of k ranks closes over k steps: brute force over simple cycles of at most 4 ranks.
    const std::size_t ranks = schedule.ranks.size();
    std::vector<std::vector<std::optional<std::int64_t>>> paths;
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto ends = explicit_graph.ends({explicit_graph.first[r]});
      auto& row = paths.emplace_back();
      for (std::size_t to = 0; to < ranks; ++to) row.push_back(ends[explicit_graph.last[to]]);
    }
    CycleRatio largest;
    std::vector<std::size_t> chosen(ranks);
    for (std::size_t r = 0; r < ranks; ++r) chosen[r] = r;
    do {
      std::int64_t total = 0;
      for (std::size_t k = 0; k < ranks; ++k) {
        if (k > 0) {
          if (!paths[chosen[k - 1]][chosen[k]]) break;
          total += *paths[chosen[k - 1]][chosen[k]];
        }
        const auto& back = paths[chosen[k]][chosen[0]];
        const auto arcs = static_cast<std::int64_t>(k) + 1;
        if (back && is_smaller_fraction(largest.total, largest.arcs, total + *back, arcs))
          largest = {total + *back, arcs};
      }
    } while (std::next_permutation(chosen.begin(), chosen.end()));
    const Period period = period_without_barrier(schedule, times);
    REQUIRE(period.total.value() * largest.arcs == largest.total * period.steps);
    REQUIRE(period.picoseconds() <= static_cast<double>(longest));
  }
  CHECK(played > 1500);
}

TEST_CASE("closed forms of the plan are the evaluated orders where their header says so") {
  RandomSchedules random;
  for (int n = 0; n < 2000; ++n) {
    const std::int32_t p = random.between(2, 6);
    const std::int32_t m = random.between(1, 14);
    const PipelineShape shape{p, 1, m};
    StageTimes t = random.times(shape);
    std::vector<Picoseconds> backward;
    for (std::size_t s = 0; s < t.forward.size(); ++s) backward.push_back(t.backward_input[s] + t.backward_weight[s]);
    const PipelineTimes times{t.forward, backward, t.latency, {}};
    for (const Schedule schedule : {Schedule::gpipe, Schedule::one_f_one_b}) {
      INFO(to_text(schedule) << ", p " << p << ", m " << m);
      REQUIRE(pipeline_makespan(schedule, times, m, 1) == order_makespan(compute_schedule(schedule, shape), t));
    }
    const std::int32_t v = random.between(2, 4);
    const PipelineShape looped{p, v, p * random.between(1, 3)};
    const StageTimes chunks =
        equal_stages(looped.stages(), t.forward[0], t.backward_input[0], t.backward_weight[0], Picoseconds(0));
    const std::vector<Picoseconds> f(static_cast<std::size_t>(p), std::int64_t{v} * t.forward[0]);
    const std::vector<Picoseconds> b(static_cast<std::size_t>(p), std::int64_t{v} * backward[0]);
    const std::vector<Picoseconds> none(static_cast<std::size_t>(p - 1));
    REQUIRE(pipeline_makespan(Schedule::interleaved, {f, b, none, {}}, looped.micro_batches, v) ==
            order_makespan(compute_schedule(Schedule::interleaved, looped), chunks));
  }
}

}  // namespace
}  // namespace plumbline
