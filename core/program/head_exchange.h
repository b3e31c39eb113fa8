#pragma once
/// \file head_exchange.h: how attention's tensors get from all heads of a rank's tokens to all tokens of a part of its
/// heads, and back, instruction by instruction.
///
/// Model: an all-to-all among context-parallel ranks of each of queries, keys and values, and one of the output; of
/// their gradients the mirror. A tensor has as many bytes on either side of it. What is sent by head is packed before,
/// what arrives by head is unpacked behind; tokens lie in the order of the ranks as they are. Source: DeepSpeed
/// Ulysses, arXiv:2309.14509, section 3.1; deepspeed/sequence/layer.py (single_all_to_all). Not modelled: an exchange
/// of keys alongside the packing of values. Checked against: tests/unit/core/program/head_exchange_test.cpp;
/// tests/reference/ulysses_volume_test.cpp; tests/runtime/execution/head_exchange_test.cpp (executed bytes and losses).

#include "core/program/block_emitter.h"

namespace plumbline {

/// `tokens`: a buffer of `tensor` with the rank's tokens. `heads`: one that takes all tokens of its part of the heads.
inline void scatter_heads(BlockEmitter& emit, OpId op, TensorId tensor, std::int32_t tokens, std::int32_t heads) {
  std::int32_t packed = emit.allocate({tensor});
  emit.kernel(op, KernelRole::pack_heads, {tokens, packed});
  emit.collective(op, Collective::all_to_all, Axis::context, {packed, heads});
  emit.release(packed);
}

/// `heads` goes to `tokens`, which is `tensor`'s.
inline void gather_heads(BlockEmitter& emit, OpId op, TensorId tensor, std::int32_t heads, std::int32_t tokens) {
  std::int32_t arrived = emit.allocate({tensor});
  emit.collective(op, Collective::all_to_all, Axis::context, {heads, arrived});
  emit.kernel(op, KernelRole::unpack_heads, {arrived, tokens});
  emit.release(arrived);
}

}  // namespace plumbline
