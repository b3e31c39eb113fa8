#pragma once
/// \file period_without_barrier.h: the time per step of endless steps, a rank starting the next when its own part
/// ended.
///
/// Answers an exact fraction of picoseconds. Model: a step of rank r follows its last one, so the longest paths from
/// the start of r's step to the end of s's are the arcs of one period each; the period is the largest cycle mean.
/// Source: maximum cycle ratio of the repeated graph, as arXiv:2401.10241 measures it; Karp's algorithm.
/// Checked against: tests/property/order_makespan_test.cpp (every simple cycle), exact.

#include "core/program/order_makespan.h"
#include "tests/cycle_ratio.h"

namespace plumbline {

/// An exact fraction of a number of steps: `total` picoseconds for `steps` steps, in lowest terms.
struct Period {
  Picoseconds total{0};
  std::int64_t steps = 1;
  bool operator==(const Period&) const = default;
  [[nodiscard]] double picoseconds() const { return static_cast<double>(total.value()) / static_cast<double>(steps); }
};
/// O(p (actions + p^2)).
[[nodiscard]] inline Period period_without_barrier(const ComputeSchedule& schedule, const StageTimes& times) {
  const Picoseconds long_ago(-(std::int64_t{1} << 60));  // of ranks that this step does not begin on
  const DryRun run = dry_run(schedule);
  std::vector<std::vector<std::int64_t>> paths;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    StageTimes from_rank = times;
    from_rank.start.assign(schedule.ranks.size(), long_ago);
    from_rank.start[rank] = Picoseconds(0);
    auto& row = paths.emplace_back();
    for (const Picoseconds end : order_timing(run, from_rank).end)
      row.push_back(end < Picoseconds(0) ? unreachable : end.value());
  }
  const CycleRatio ratio = largest_cycle_mean(paths);
  return {Picoseconds(ratio.total), ratio.arcs};
}

}  // namespace plumbline
