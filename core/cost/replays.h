#pragma once
/// \file replays.h: the variants of a layout as those read them who follow a block operator by operator.
///
/// Model: core/cost/block_sizes.h (VariantSizes). Checked against: tests/runtime/execution (bytes of every recompute).

#include "core/cost/stage_cost.h"
#include "core/graph/graph.h"
#include "core/sharding/keep_rule.h"

namespace plumbline {

/// By execution of the arrangement.
[[nodiscard]] std::vector<Replay> replays_of(const Graph& graph, const std::vector<BlockCost>& blocks,
                                             const Arrangement& arrangement, RecomputeMode mode);

}  // namespace plumbline
