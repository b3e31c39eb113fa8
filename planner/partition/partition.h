#pragma once
/// \file partition.h: which consecutive layers each pipeline stage holds, exactly, when layers are unequal.
///
/// Answers layers per stage (at least one each) and the objective in picoseconds, or nothing when no partition fits;
/// of equal partitions the lexicographically smallest. Three objectives over t = forward + backward of a stage:
/// * the slowest stage, by dynamic programming: O(p L^2);
/// * sum t + (m - 1) max t, by a threshold on max t and a dynamic programme of sums below it: O(p L^2) per threshold,
///   until no larger threshold can win. It ranks partitions fast and approximately: the true makespan of 1F1B is
///   neither below nor above it;
/// * the makespan of 1F1B itself, by branch and bound: every leaf is evaluated wave by wave (pipeline_time.h), branches
///   are cut where the busiest stage with the fill before and the drain after it cannot win.
/// Source: PipeDream, arXiv:1806.03377 (chain partition); Sun et al., AdaPipe, ASPLOS'24 (thresholds with recompute).
/// Not modelled: schedules other than 1F1B in the third; virtual stages.
/// Checked against: tests/reference/oracles/partition_oracles_test.cpp and tests/property/partition_test.cpp (all
/// compositions), exact.

#include <optional>
#include <span>

#include "planner/partition/stage_prices.h"

namespace plumbline {

[[nodiscard]] std::optional<StagePartition> min_max_partition(const StagePrices& prices);
[[nodiscard]] std::optional<StagePartition> sum_and_max_partition(const StagePrices& prices,
                                                                  std::int64_t micro_batches);

struct MakespanPartition {
  StagePartition partition;
  bool proven = true;  ///< false: the limit of partitions evaluated was reached; the best so far
};
/// `latency`: between stage s and s + 1, one fewer than stages.
[[nodiscard]] std::optional<MakespanPartition> one_f_one_b_partition(const StagePrices& prices,
                                                                     std::span<const Picoseconds> latency,
                                                                     std::int64_t micro_batches,
                                                                     std::int64_t most_evaluated = 1'000'000);

}  // namespace plumbline
