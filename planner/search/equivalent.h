#pragma once
/// \file equivalent.h: plans of a ranking that differ in nothing that a user would notice, as one.
///
/// Model: a plan is like a better one where both train in the same precision on the same degrees of parallelism,
/// sequence parallelism and micro-batch, fit as surely, and it differs in step time by less than one run differs from
/// its repetition (planner/question/noise.h), or is slower and by that measure needs no less memory. Virtual stages,
/// schedule, ZeRO stage, shard group, recompute and split may differ. The first of a ranking stands for those that are
/// like it, or, where plans are ranked by time, the simplest that is as fast as the first (complexity.h).
/// Checked against: tests/unit/planner/search/equivalent_test.cpp.

#include <vector>

#include "planner/search/ranked_strategy.h"

namespace plumbline {

[[nodiscard]] bool is_like(const RankedStrategy& other, const RankedStrategy& better);

/// Plans in their order, each behind the first that it is like: `rest[i]` of `first[i]`.
struct FoldedRanking {
  std::vector<RankedStrategy> first;
  std::vector<std::vector<RankedStrategy>> rest;
};
[[nodiscard]] FoldedRanking folded(std::vector<RankedStrategy> ranking);
/// Of a ranking by time: puts the simplest of those plans of a row that are as fast as its first in the first's place,
/// and sorts the rows anew: those that fit as surely as the fastest and are as fast come first, the simplest before
/// the others.
void lead_with_simplest(FoldedRanking& ranking);

}  // namespace plumbline
