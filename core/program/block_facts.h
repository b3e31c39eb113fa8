#pragma once
/// \file block_facts.h: what the lowering of a block asks of it: sizes, order, tensor-parallel boundaries.
///
/// Answers bytes per rank of single tensors and rows. Model, source and what it was checked against: block_program.h.

#include <algorithm>

#include "core/graph/slot.h"
#include "core/program/block_program.h"

namespace plumbline {

class BlockFacts {
 public:
  BlockFacts(const BlockLowering& lowering, const KeepRule& kept)
      : block(lowering.block_), shard(lowering.shard_), rule(kept), lowering_(lowering) {}

  [[nodiscard]] Bytes bytes(TensorId id) const { return lowering_.tensors_[slot(id)].bytes; }
  /// With all rows of the context-parallel slice.
  [[nodiscard]] Bytes whole(TensorId id) const { return bytes(id) * (is_sliced(id) ? shard.sequence_ranks() : 1); }
  [[nodiscard]] bool is_sliced(TensorId id) const { return lowering_.tensors_[slot(id)].is_sliced; }
  [[nodiscard]] bool is_logits(TensorId id) const { return lowering_.tensors_[slot(id)].is_logits; }
  [[nodiscard]] bool carries(TensorId id) const { return block.carries_gradient()[slot(id)]; }
  [[nodiscard]] bool trains(const Op& op) const {
    return std::any_of(op.parameters.begin(), op.parameters.end(),
                       [&](TensorId id) { return block.tensor(id).trainable; });
  }
  /// Of a buffer of a program of this block. `others`: the buffers before it.
  [[nodiscard]] Bytes bytes(const BlockBuffer& buffer, std::span<const BlockBuffer> others) const;
  /// Statistics, masks and probabilities, one by one.
  [[nodiscard]] const std::vector<Bytes>& sides(OpId id) const { return lowering_.sides_[slot(id)]; }
  /// Whether a linear's input is gathered, and its gradient summed, over tensor-parallel ranks.
  [[nodiscard]] static bool is_column_parallel(const Op& op) { return plumbline::is_column_parallel(op); }
  /// Whether an operator's output is summed over tensor-parallel ranks.
  [[nodiscard]] bool is_summed_over_ranks(const Op& op) const { return plumbline::is_summed_over_ranks(block, op); }
  [[nodiscard]] bool is_divided() const { return shard.tensor_parallel > 1; }
  [[nodiscard]] bool runs_ring(const Op& op) const {
    return op.kind == OpKind::attention && shard.context_parallel > 1 && !shard.exchanges_heads();
  }
  [[nodiscard]] bool exchanges_heads(const Op& op) const {
    return op.kind == OpKind::attention && shard.exchanges_heads();
  }
  [[nodiscard]] std::int32_t position(OpId id) const { return lowering_.position_[slot(id)]; }
  /// Whether a column-parallel linear that runs before `id` reads `input`.
  [[nodiscard]] bool is_gathered_before(TensorId input, OpId id) const {
    const auto& readers = block.consumers(input);
    return std::any_of(readers.begin(), readers.end(),
                       [&](OpId r) { return is_column_parallel(block.op(r)) && position(r) < position(id); });
  }
  /// Rows of a dispatch or combine, one for each choice of the rank's own tokens.
  [[nodiscard]] Bytes chosen(TensorId routed) const { return chosen_bytes(block.tensor(routed), shard); }
  [[nodiscard]] bool exchanges(const Op& op) const { return shard.experts_exchange() && permutes_tokens(op.kind); }
  /// Whether context-parallel ranks gather keys and values, as attention that keeps its probabilities reads all of them
  /// at once; else they travel a ring.
  [[nodiscard]] bool gathers_keys() const { return shard.flash_attention == FlashAttention::off; }
  /// Whether the output that attention makes of exchanged heads is one of its sides, as its backward reads it.
  [[nodiscard]] bool keeps_output_of_heads() const { return shard.flash_attention == FlashAttention::on; }
  /// Keys and values that travel a ring, or those of all ranks.
  [[nodiscard]] Bytes travelling(const Op& op) const {
    return (bytes(op.inputs[1]) + bytes(op.inputs[2])) * (gathers_keys() ? shard.context_parallel : 1);
  }

  const Block& block;
  const Shard& shard;
  const KeepRule& rule;

 private:
  const BlockLowering& lowering_;
};

}  // namespace plumbline
