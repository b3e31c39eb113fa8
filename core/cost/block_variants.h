#pragma once
/// \file block_variants.h: the ways to run a block that need no choice of operators: kept, selective, full, by
/// operator.
///
/// Answers what each keeps and what its replay takes, for one micro-batch on one rank. Model: block_cost.h, and
/// kept_by_operator.h, of whose two collectives around a pair of products one runs again: what a reduction leaves is
/// kept. Source: arXiv:2205.05198, section 5; torchtitan. Not modelled: working sets of a replay by operator beside
/// what it restores. Checked against: tests/property/block_cost_test.cpp,
/// tests/reference/selective_by_operator_test.cpp.

#include "core/cost/block_cost.h"
#include "core/cost/kept_by_operator.h"

namespace plumbline {

/// What replaying attention alone takes.
struct AttentionReplay {
  PhaseTime time;
  Picoseconds host{0};
};

/// Kept, selective and full, in the order of `Variant`; `cost` has passes, boundary and FLOPs.
[[nodiscard]] std::vector<BlockVariant> ruled_variants(const Block& block, const Shard& shard, const BlockCost& cost,
                                                       const AttentionReplay& attention);
/// `replayed_share`: of the forward's compute; `cost` has the variants above.
[[nodiscard]] BlockVariant by_operator(const Block& block, const Shard& shard, const BlockCost& cost,
                                       const KeptByOperator& kept, double replayed_share);

}  // namespace plumbline
