#pragma once
/// \file optimal_recompute.h: `--recompute optimal`: the placement, or the named mode that is better.
///
/// Answers the variant of every execution. Model: the placement of exact_placement.h is held against every mode that
/// `--recompute` can name (named_modes.h) by the exact memory of all ranks, of the host too, and by the closed form of
/// the step: what surely fits (Question::certain_capacity) beats what may not, and that what does not; of two alike the
/// faster one, of two that do not fit the smaller one. So optimal is never worse than a named mode, which the placement
/// alone is not: it places each rank for itself and knows neither bubbles nor waits.
/// Source: none. Not modelled: layers whose activations wait in host memory (`offload:N` is a choice of its own).
/// Checked against: tests/property/recompute_modes_test.cpp.

#include <vector>

#include "planner/checkpointing/rank_layers.h"
#include "planner/question/question.h"

namespace plumbline {

/// `groups`: of block_costs of the strategy; `chunks`: a split of its network.
[[nodiscard]] std::vector<std::int32_t> optimal_variants(const Question& question, const Strategy& strategy,
                                                         const RankLayersTable& groups,
                                                         const std::vector<Chunk>& chunks);

}  // namespace plumbline
