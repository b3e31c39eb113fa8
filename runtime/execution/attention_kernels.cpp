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
AttentionShape whole_attention_shape(const AttentionAttributes& a, const RankEnvironment& env) {
  AttentionShape shape = attention_shape(a, env);
  shape.keys = env.shard.lengths.sequence;
  shape.first_key = 0;
  return shape;
}

void unfused_forward(const KernelCall& call) {
  UnfusedAttentionForward kernel = unfused_forward_call(call);
  kernel.key = call.view(1);
  kernel.value = call.view(2);
  call.run(call.kernels().unfused_attention_forward, kernel);
}

void fused_backward(const KernelCall& call) {
  AttentionBackward kernel = attention_backward_call(call);
  call.run(call.kernels().attention_backward, kernel);
}

void unfused_backward(const KernelCall& call) {
  const std::size_t made = call.operand_count() - 3;
  UnfusedAttentionBackward kernel = unfused_backward_call(call);
  kernel.key = call.view(2);
  kernel.value = call.view(3);
  kernel.query_gradient = call.view(made);
  kernel.key_gradient = call.view(made + 1);
  kernel.value_gradient = call.view(made + 2);
  call.run(call.kernels().unfused_attention_backward, kernel);
}

}  // namespace

AttentionShape attention_shape(const AttentionAttributes& a, const RankEnvironment& env) {
  AttentionShape shape;
  shape.batch = env.shard.lengths.batch;
  shape.heads = a.heads / env.shard.tensor_parallel;
  shape.kv_heads = a.kv_heads / env.shard.tensor_parallel;
  shape.queries = shape.keys = env.local_sequence();
  shape.qk_head_dim = a.qk_head_dim;
  shape.v_head_dim = a.v_head_dim;
  shape.scale = 1.0F / std::sqrt(static_cast<float>(a.qk_head_dim));
  shape.mask = a.causal ? Mask::causal : Mask::none;
  check(a.document == 0, "documents of a sequence attend to each other when executed");
  shape.window = a.window;
  shape.first_query = shape.first_key = env.groups.index(Axis::context) * env.local_sequence();
  return shape;
}

AttentionDropout attention_dropout(const AttentionAttributes& a, const DropoutDraw& draw, const RankEnvironment& env) {
  if (!a.dropout) return {};
  return {draw, env.batch.first_sequence, env.groups.index(Axis::tensor) * (a.heads / env.shard.tensor_parallel),
          a.heads, env.shard.lengths.sequence};
}

AttentionForward attention_forward_call(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  return {attention_shape(a, call.env),
          call.view(0),
          call.view(1),
          call.view(2),
          call.view(3),
          call.floats(side_of_forward),
          attention_dropout(a, call.draw(), call.env),
          {}};
}

AttentionBackward attention_backward_call(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  constexpr std::size_t made = side_of_backward + 1;
  AttentionBackward kernel;
  kernel.shape = attention_shape(a, call.env);
  kernel.dropout = attention_dropout(a, call.draw(), call.env);
  kernel.output_gradient = call.view(0);
  kernel.query = call.view(1);
  kernel.key = call.view(2);
  kernel.value = call.view(3);
  kernel.output = call.view(4);
  kernel.log_sum_exp = call.floats(side_of_backward);
  kernel.query_gradient = call.view(made);
  kernel.key_gradient = call.view(made + 1);
  kernel.value_gradient = call.view(made + 2);
  return kernel;
}

UnfusedAttentionForward unfused_forward_call(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  UnfusedAttentionForward kernel;
  kernel.shape = whole_attention_shape(a, call.env);
  const Scores scores(call, kernel.shape);
  kernel.query = call.view(0);
  kernel.output = call.view(3);
  kernel.probabilities = scores.view(call.buffer(side_of_forward));
  kernel.dropout = attention_dropout(a, call.draw(), call.env);
  if (a.dropout) {
    kernel.mask = reinterpret_cast<std::uint8_t*>(call.buffer(side_of_forward + 1)->data());
    kernel.dropped_probabilities = scores.view(call.buffer(side_of_forward + 2));
  }
  return kernel;
}

UnfusedAttentionBackward unfused_backward_call(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  UnfusedAttentionBackward kernel;
  kernel.shape = whole_attention_shape(a, call.env);
  const Scores scores(call, kernel.shape);
  kernel.output_gradient = call.view(0);
  kernel.query = call.view(1);
  kernel.probabilities = scores.view(call.buffer(side_of_backward));
  if (a.dropout) {
    kernel.mask = reinterpret_cast<const std::uint8_t*>(call.buffer(side_of_backward + 1)->data());
    kernel.dropped_probabilities = scores.view(call.buffer(side_of_backward + 2));
    kernel.dropout_probability = call.draw().probability;
  }
  return kernel;
}

void run_attention(const KernelCall& call) {
  const bool is_fused = call.env.shard.flash_attention == FlashAttention::on;
  switch (call.instruction.role) {
    case KernelRole::forward: return is_fused ? fused_forward(call) : unfused_forward(call);
    case KernelRole::backward: return is_fused ? fused_backward(call) : unfused_backward(call);
    default: return is_fused ? run_ring_attention(call) : run_gathered_attention(call);
  }
}

}  // namespace plumbline
