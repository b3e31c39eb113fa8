#pragma once
/// \file block_variants.h: the ways to run a block that need no choice of operators: kept, selective, full, by
/// operator.
///
/// Answers what each keeps and what its replay takes, for one micro-batch on one rank. Model: block_cost.h, and
/// kept_by_operator.h. Source: arXiv:2205.05198, section 5; torchtitan. Not modelled: a replay by operator that stops
/// where nothing more is needed. Checked against: tests/property/block_cost_test.cpp,
/// tests/reference/selective_by_operator_test.cpp; bytes in tests/runtime/execution.

#include "core/cost/block_cost.h"
#include "core/cost/kept_by_operator.h"

namespace plumbline {

/// What replaying attention alone takes: with context parallelism keys and values go round the ring again.
struct AttentionReplay {
  PhaseTime time;
  Picoseconds host{0};
  WireBytes wire;
};
/// By op in order of execution: whether it is attention, which selective recompute runs again.
[[nodiscard]] std::vector<bool> attention_replay(const Block& block);

/// Kept, selective and full, in the order of `Variant`; `cost` has passes, boundary and FLOPs.
[[nodiscard]] std::vector<BlockVariant> ruled_variants(const Block& block, const Shard& shard, const BlockCost& cost,
                                                       const AttentionReplay& attention);
/// What a replay by operator takes beside the host's time.
struct OperatorReplay {
  PhaseTime time;
  WireBytes wire;
};
/// `cost` has the variants above.
[[nodiscard]] BlockVariant by_operator(const Block& block, const Shard& shard, const BlockCost& cost,
                                       const KeptByOperator& kept, const OperatorReplay& takes);

}  // namespace plumbline
