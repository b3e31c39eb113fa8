#pragma once
/// \file shard_ranks.h: over how many ranks a strategy divides training states, and how many hold the same parameters.
///
/// Source: ZeRO, arXiv:1910.02054, section 5; hybrid sharding, PyTorch FSDP, arXiv:2304.11277, section 3.2.2.
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
/// Ranks that hold the same dense parameters, or the same experts: units are padded among them.
[[nodiscard]] ShardRanks replica_ranks(const Strategy& strategy);

}  // namespace plumbline
