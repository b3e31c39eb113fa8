// Attention on one rank, fused and unfused.
#include <cmath>

#include "runtime/execution/attention_call.h"

namespace plumbline {
namespace {

// Operands of a forward: query, key, value, output, side.
constexpr std::size_t side_of_forward = 4;
// Of a backward: gradient of output, query, key, value, output, side, gradients of the three.
constexpr std::size_t side_of_backward = 5;

void fused_forward(const KernelCall& call) {
  AttentionForward kernel = attention_forward_call(call);
  call.run(call.kernels().attention_forward, kernel);
}

/// Of scores: probabilities, mask, dropped probabilities.
struct Scores {
  NumberFormat number = NumberFormat::fp32;
  std::int64_t rows = 0;
  std::int64_t keys = 0;

  Scores(const KernelCall& call, const AttentionShape& shape)
      : number(call.format(call.op.outputs[0])), rows(shape.batch * shape.heads * shape.queries), keys(shape.keys) {}
  [[nodiscard]] TensorView view(const BufferRef& buffer) const {
    return dense_view(static_cast<void*>(buffer->data()), number, rows, keys);
  }
};

/// With the keys of all context-parallel ranks.
AttentionShape whole_attention_shape(const AttentionAttributes& a, const RankShare& share) {
  AttentionShape shape = attention_shape(a, share);
  shape.keys = share.shard.lengths.sequence;
  shape.first_key = 0;
  return shape;
}

void unfused_forward(const KernelCall& call) {
  UnfusedAttentionForward kernel = unfused_forward_call(call);
  kernel.key = attention_view(call, 1, call.op.inputs[1]);
  kernel.value = attention_view(call, 2, call.op.inputs[2]);
  call.run(call.kernels().unfused_attention_forward, kernel);
}

void fused_backward(const KernelCall& call) {
  AttentionBackward kernel = attention_backward_call(call);
  call.run(call.kernels().attention_backward, kernel);
}

void unfused_backward(const KernelCall& call) {
  const std::size_t made = call.operand_count() - 3;
  UnfusedAttentionBackward kernel = unfused_backward_call(call);
  const std::vector<TensorId>& inputs = call.op.inputs;
  kernel.key = attention_view(call, 2, inputs[1]);
  kernel.value = attention_view(call, 3, inputs[2]);
  kernel.query_gradient = attention_view(call, made, inputs[0]);
  kernel.key_gradient = attention_view(call, made + 1, inputs[1]);
  kernel.value_gradient = attention_view(call, made + 2, inputs[2]);
  call.run(call.kernels().unfused_attention_backward, kernel);
}

}  // namespace

AttentionShape attention_shape(const AttentionAttributes& a, const RankShare& share) {
  AttentionShape shape;
  shape.batch = share.shard.lengths.batch;
  shape.heads = a.heads / share.shard.head_ranks();
  shape.kv_heads = a.kv_heads / share.shard.head_ranks();
  shape.queries = shape.keys = share.shard.lengths.sequence / share.shard.query_ranks();
  shape.qk_head_dim = a.qk_head_dim;
  shape.v_head_dim = a.v_head_dim;
  shape.scale = 1.0F / std::sqrt(static_cast<float>(a.qk_head_dim));
  shape.mask = a.causal ? Mask::causal : Mask::none;
  check(a.document == 0, "documents of a sequence attend to each other when executed");
  shape.window = a.window;
  if (!share.shard.exchanges_heads()) shape.first_query = shape.first_key = share.first_position();
  return shape;
}

TensorView attention_view(const KernelCall& call, std::size_t operand, TensorId tensor) {
  const Shard& shard = call.share.shard;
  if (!shard.exchanges_heads()) return call.view(operand, tensor);
  const std::int64_t ranks = shard.context_parallel;
  return dense_view(static_cast<void*>(call.buffer(operand)->data()), call.format(tensor), call.rows(tensor) * ranks,
                    call.columns(tensor) / ranks);
}

AttentionDropout attention_dropout(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  const RankShare& share = call.share;
  if (!a.dropout) return {};
  const std::int64_t heads = a.heads / share.shard.tensor_parallel;
  const std::int64_t exchanged =
      share.shard.exchanges_heads() ? share.groups.index(Axis::context) * (a.heads / share.shard.head_ranks()) : 0;
  return {call.draw(), call.parts.batches.at_hand().first_sequence,
          share.groups.index(Axis::tensor) * heads + exchanged, a.heads, share.shard.lengths.sequence};
}

AttentionForward attention_forward_call(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  return {attention_shape(a, call.share),
          attention_view(call, 0, call.op.inputs[0]),
          attention_view(call, 1, call.op.inputs[1]),
          attention_view(call, 2, call.op.inputs[2]),
          attention_view(call, 3, call.op.outputs[0]),
          call.floats(side_of_forward),
          attention_dropout(call),
          {}};
}

AttentionBackward attention_backward_call(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  constexpr std::size_t made = side_of_backward + 1;
  AttentionBackward kernel;
  kernel.shape = attention_shape(a, call.share);
  kernel.dropout = attention_dropout(call);
  const std::vector<TensorId>& inputs = call.op.inputs;
  const TensorId output = call.op.outputs[0];
  kernel.output_gradient = attention_view(call, 0, output);
  kernel.query = attention_view(call, 1, inputs[0]);
  kernel.key = attention_view(call, 2, inputs[1]);
  kernel.value = attention_view(call, 3, inputs[2]);
  kernel.output = attention_view(call, 4, output);
  kernel.log_sum_exp = call.floats(side_of_backward);
  kernel.query_gradient = attention_view(call, made, inputs[0]);
  kernel.key_gradient = attention_view(call, made + 1, inputs[1]);
  kernel.value_gradient = attention_view(call, made + 2, inputs[2]);
  return kernel;
}

UnfusedAttentionForward unfused_forward_call(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  UnfusedAttentionForward kernel;
  kernel.shape = whole_attention_shape(a, call.share);
  const Scores scores(call, kernel.shape);
  kernel.query = attention_view(call, 0, call.op.inputs[0]);
  kernel.output = attention_view(call, 3, call.op.outputs[0]);
  kernel.probabilities = scores.view(call.buffer(side_of_forward));
  kernel.dropout = attention_dropout(call);
  if (a.dropout) {
    kernel.mask = reinterpret_cast<std::uint8_t*>(call.buffer(side_of_forward + 1)->data());
    kernel.dropped_probabilities = scores.view(call.buffer(side_of_forward + 2));
  }
  return kernel;
}

UnfusedAttentionBackward unfused_backward_call(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  UnfusedAttentionBackward kernel;
  kernel.shape = whole_attention_shape(a, call.share);
  const Scores scores(call, kernel.shape);
  kernel.output_gradient = attention_view(call, 0, call.op.outputs[0]);
  kernel.query = attention_view(call, 1, call.op.inputs[0]);
  kernel.probabilities = scores.view(call.buffer(side_of_backward));
  if (a.dropout) {
    kernel.mask = reinterpret_cast<const std::uint8_t*>(call.buffer(side_of_backward + 1)->data());
    kernel.dropped_probabilities = scores.view(call.buffer(side_of_backward + 2));
    kernel.dropout_probability = call.draw().probability;
  }
  return kernel;
}

void run_attention(const KernelCall& call) {
  const bool is_fused = call.share.shard.flash_attention == FlashAttention::on;
  switch (call.instruction.role) {
    case KernelRole::pack_heads:
    case KernelRole::unpack_heads: return run_head_copies(call);
    case KernelRole::forward: return is_fused ? fused_forward(call) : unfused_forward(call);
    case KernelRole::backward: return is_fused ? fused_backward(call) : unfused_backward(call);
    default: return is_fused ? run_ring_attention(call) : run_gathered_attention(call);
  }
}

}  // namespace plumbline
