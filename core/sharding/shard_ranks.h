#pragma once
/// \file shard_ranks.h: over how many ranks a strategy divides training states, and how many hold the same parameters.
///
/// Source: ZeRO, arXiv:1910.02054, section 5; hybrid sharding, PyTorch FSDP, arXiv:2304.11277, section 3.2.2; secondary
/// shards, ZeRO++, arXiv:2306.10209, section 3.2, and PyTorch's fully_shard (reshard_after_forward of a number).
/// Checked against: tests/runtime/execution (bytes that a run holds and sends, exactly).

#include "core/plan/strategy.h"

namespace plumbline {

/// Ranks over which each kind of parameter is divided or copied.
struct ShardRanks {
  std::int64_t dense = 1;
  std::int64_t expert = 1;
};

/// Ranks over which dense and expert states are divided.
[[nodiscard]] ShardRanks shard_ranks(const Strategy& strategy);
/// Ranks over which a backward gathers parameters of ZeRO-3, each of which holds a part of them from the forward to the
/// backward where they are fewer than `shard_ranks`. Of experts, whose shard group may be another one: the largest
/// number that divides both groups, or their shard group where that is 1.
[[nodiscard]] ShardRanks secondary_ranks(const Strategy& strategy);
/// Ranks that hold the same dense parameters, or the same experts: units are padded among them.
[[nodiscard]] ShardRanks replica_ranks(const Strategy& strategy);

}  // namespace plumbline
