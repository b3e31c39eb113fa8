#pragma once
/// \file row_exchange.h: how rows get to their experts and back, instruction by instruction.
///
/// Model: an all-to-all among expert-parallel ranks; where ranks divide single experts, what arrived is gathered among
/// them, and what leaves is summed and scattered, in place. Source: Megatron-core, token_dispatcher.py.
/// Checked against: tests/property/block_sends_test.cpp.

#include "core/program/block_emitter.h"
#include "core/program/block_facts.h"

namespace plumbline {

inline void exchange_to_experts(const BlockFacts& facts, BlockEmitter& emit, OpId op, std::int32_t leaving,
                                std::int32_t arriving) {
  emit.collective(op, Collective::all_to_all, Axis::expert, {leaving, arriving}, ExchangeDirection::to_experts);
  if (facts.shard.expert_tensor_parallel > 1)
    emit.collective(op, Collective::all_gather, Axis::expert_tensor, {arriving});
}

/// `returned`: none where rows are summed as they arrive.
inline void exchange_to_tokens(const BlockFacts& facts, BlockEmitter& emit, OpId op, std::int32_t leaving,
                               std::int32_t returned) {
  if (facts.shard.expert_tensor_parallel > 1)
    emit.collective(op, Collective::reduce_scatter, Axis::expert_tensor, {leaving});
  emit.collective(op, Collective::all_to_all, Axis::expert, {leaving, returned}, ExchangeDirection::to_tokens);
}

}  // namespace plumbline
