// Laws of the evaluators, over random orders: event evaluation is the longest path of the explicit graph, the dry run
// finds a cycle exactly when that graph has one, the period is the largest cycle ratio.

#include "core/program/order_makespan.h"

#include "core/cost/pipeline_time.h"
#include "tests/catch.h"
#include "tests/explicit_graph.h"
#include "tests/period_without_barrier.h"
#include "tests/pipeline_makespan.h"
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
    const DryRun run = dry_run(schedule);
    INFO(to_schedule_csv(schedule));
    REQUIRE_FALSE(action_fault(schedule));
    REQUIRE(run.deadlock.has_value() == explicit_graph.has_cycle());
    if (!run.deadlock) continue;
    ++stuck;
    const std::vector<Wait>& cycle = run.deadlock->cycle;
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
  int simulated = 0;
  for (int n = 0; n < 6000; ++n) {
    const ComputeSchedule schedule = random.schedule(random.between(0, 4));
    const StageTimes times = random.times(schedule.shape);
    const DryRun run = dry_run(schedule);
    if (run.deadlock) continue;
    ++simulated;
    const ExplicitGraph explicit_graph(schedule, times);
    INFO(to_schedule_csv(schedule));
    std::int64_t longest = 0;
    for (const auto& end : explicit_graph.ends(explicit_graph.first)) longest = std::max(longest, end.value_or(0));
    REQUIRE(order_timing(run, times).makespan().value() == longest);
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
  CHECK(simulated > 1500);
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
    StageTimes chunks = random.times(looped);
    std::vector<Picoseconds> b;
    for (std::size_t s = 0; s < chunks.forward.size(); ++s)
      b.push_back(chunks.backward_input[s] + chunks.backward_weight[s]);
    // Later chunks wait their input out, so hops between them are part of the chunk.
    const std::vector<Picoseconds> latency(chunks.latency.begin(), chunks.latency.begin() + p - 1);
    const Picoseconds wrap(random.between(0, 9));
    const auto hop = [&](std::int32_t rank) { return rank == 0 ? wrap : latency[static_cast<std::size_t>(rank - 1)]; };
    for (std::int32_t s = 0; s < looped.stages(); ++s) {
      const std::int32_t rank = s % p;
      chunks.into_forward.push_back(s < p ? Hop{hop(rank), {}} : Hop{{}, hop(rank)});
      const Picoseconds back = hop((rank + 1) % p);  // over the boundary that the activation went out by
      chunks.into_backward.push_back(s >= p * (v - 1) ? Hop{back, {}} : Hop{{}, back});
    }
    INFO("p " << p << ", v " << v << ", m " << looped.micro_batches);
    const PipelineTimes unequal{chunks.forward, b, latency, {}, wrap};
    const OrderTiming timing = order_timing(dry_run(compute_schedule(Schedule::interleaved, looped)), chunks);
    REQUIRE(pipeline_ends(Schedule::interleaved, unequal, looped.micro_batches, v) == timing.end);
  }
}

}  // namespace
}  // namespace plumbline
