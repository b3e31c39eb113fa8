#pragma once
/// \file variants.h: plans that lie between the values which a search's space holds of an axis.
///
/// Answers the strategies that differ from a given one on one axis: any virtual-stage count up to 16 under interleaving
/// or from 1F1B, micro-batches from half to double its size that divide a rank's part of the batch, what
/// the row of an axis names (StrategyAxis::refined: any shard group of at least two ranks), details of the ZeRO stage
/// one step away, any division of experts over tensor-parallel ranks, a module of selective recompute more or less,
/// layers recomputed every second to fourth. Each is legal, is allowed by the space (what a framework launches), and
/// leaves alone what the space fixes. Source: the legality rules (core/plan/legality.h). Not modelled: layers offloaded
/// to the host, splits of layers by hand. Checked against: tests/unit/planner/search/variants_test.cpp; what they leave
/// unfound: tests/property/search_random_strategies_test.cpp.

#include <vector>

#include "planner/search/space.h"

namespace plumbline {

/// All axes, or those alone whose variants share the blocks of the plan, and so cost a small part of a price.
enum class VariantAxes : std::uint8_t { all, of_same_blocks };
/// All values, or without those that the space itself holds (SpaceEnumerator), which a search has looked at.
enum class VariantValues : std::uint8_t { all, beyond_space };

[[nodiscard]] std::vector<Strategy> variants_of(const Strategy& strategy, const Question& question,
                                                const SearchSpace& space, VariantAxes axes = VariantAxes::all,
                                                VariantValues values = VariantValues::all);

}  // namespace plumbline
