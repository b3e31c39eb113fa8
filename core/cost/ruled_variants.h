#pragma once
/// \file ruled_variants.h: which variant of its block each layer runs, where recompute follows a rule.
///
/// Answers one index into a block's variants (block_cost.h) for every execution. `optimal` is no rule:
/// planner/checkpointing chooses its variants.
/// Source: Megatron-Core, megatron/core/recompute.py, checkpointed_forward, for `uniform:N` and `block:N`.
/// Checked against: tests/unit/core/cost/replayed_layers_test.cpp.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/plan/stage_split.h"
#include "core/plan/strategy.h"

namespace plumbline {

/// Blocks other than layers are kept whole, as are frozen layers without a backward. `chunks`: all of the pipeline, in
/// order; modes that count the layers of a chunk need them.
[[nodiscard]] std::vector<std::int32_t> ruled_variants(const Graph& graph, Recompute recompute,
                                                       const std::vector<Chunk>& chunks);

}  // namespace plumbline
