#pragma once
/// \file site_splits.h: how many layers each pipeline chunk holds where stages compute on different devices.
///
/// Answers layers per chunk, to be tried alongside the even split: those that make the slowest rank's forward and
/// backward shortest, and halfway between both, for where memory does not allow so many on the fast devices. Finalists
/// move single layers between chunks as long as the closed form of the step gets shorter and the plan fits.
/// Model: times of blocks on each stage's site (core/machine/sites.h) with everything kept; ranks of several chunks get
/// equal ones. A greedy fill of a bound, bisected, is exact for the slowest chunk of a chain.
/// Source: the chain partition of PipeDream, arXiv:1806.03377.
/// Not modelled: moves of placed recompute; moves of several layers at once that single ones do not lead to.
/// Checked against: tests/property/mixed_cluster_test.cpp (all splits of small networks).

#include <optional>
#include <vector>

#include "planner/search/finalists.h"

namespace plumbline {

/// Nothing where all stages compute on the same devices. `blocks`: block_costs of the same. Each differs from the even
/// split and from the others, and holds a layer on every chunk.
[[nodiscard]] std::vector<std::vector<std::int32_t>> site_splits(const Question& question, const Strategy& strategy,
                                                                 const std::vector<BlockCost>& blocks);
/// The plan with layers moved between chunks, where that fits and is faster by closed form.
[[nodiscard]] std::optional<RankedStrategy> with_moved_layers(const RankedStrategy& plan, const Question& question,
                                                              KnownPrograms* known = nullptr);

}  // namespace plumbline
