// Attention: fused, unfused, and as a ring over context-parallel ranks.
#include <cmath>

#include "kernels/unfused_attention.h"
#include "runtime/execution/attention_call.h"
#include "runtime/execution/block_runner.h"

namespace plumbline {
namespace {

std::size_t slot(OpId id) { return static_cast<std::size_t>(id.index()); }
float* floats(const Held& buffer) { return reinterpret_cast<float*>(buffer->data()); }

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

void BlockRunner::attention_forward(OpId id, const Op& op, const std::vector<Held>& out, SideBuffers& side) {
  const auto& a = std::get<AttentionAttributes>(op.attributes);
  const AttentionShape shape = attention_shape(a, env_);
  const AttentionDropout dropout = attention_dropout(a, draw(id), env_);
  const std::int64_t rows = shape.batch * shape.heads * shape.queries;
  const TensorView y = view(out[0], op.outputs[0]);
  if (env_.shard.context_parallel > 1) return ring_forward(id, op, out, side);
  if (env_.shard.flash_attention == FlashAttention::on) {
    side[0] = bind(class_of_side(id), storage(rows, NumberFormat::fp32));
    AttentionForward call{
        shape, value(op.inputs[0]), value(op.inputs[1]), value(op.inputs[2]), y, floats(side[0]), dropout, {}};
    call.workspace = env_.backend.workspace(reference::attention_workspace(call));
    return reference::attention_forward(call);
  }
  const NumberFormat number = format(op.outputs[0]);
  const Bytes scores = storage(rows * shape.keys, number);
  UnfusedAttentionForward call{shape, value(op.inputs[0]), value(op.inputs[1]), value(op.inputs[2]), y, {}};
  side[0] = bind(class_of_side(id), scores);
  call.probabilities = dense_view(static_cast<void*>(side[0]->data()), number, rows, shape.keys);
  call.dropout = dropout;
  if (a.dropout) {
    side[1] = bind(class_of_side(id), storage(rows * shape.keys, NumberFormat::int8));
    side[2] = bind(class_of_side(id), scores);
    call.mask = reinterpret_cast<std::uint8_t*>(side[1]->data());
    call.dropped_probabilities = dense_view(static_cast<void*>(side[2]->data()), number, rows, shape.keys);
  }
  call.workspace = env_.backend.workspace(reference::unfused_attention_workspace(call));
  reference::unfused_attention_forward(call);
}

void BlockRunner::attention_backward(OpId id, const Op& op) {
  const auto& a = std::get<AttentionAttributes>(op.attributes);
  const AttentionShape shape = attention_shape(a, env_);
  if (env_.shard.context_parallel > 1) return ring_backward(id, op);
  const ConstTensorView dy = view(gradient(op.outputs[0]), op.outputs[0]);
  const SideBuffers& side = state_.side[slot(id)];
  check(side[0] != nullptr, "attention has its statistics");
  std::array<Held, 3> made;
  for (std::size_t i = 0; i < 3; ++i) made[i] = working(bytes(op.inputs[i]));
  if (env_.shard.flash_attention == FlashAttention::on) {
    AttentionBackward call;
    call.shape = shape;
    call.output_gradient = dy;
    call.query = value(op.inputs[0]);
    call.key = value(op.inputs[1]);
    call.value = value(op.inputs[2]);
    call.output = value(op.outputs[0]);
    call.log_sum_exp = floats(side[0]);
    call.query_gradient = view(made[0], op.inputs[0]);
    call.key_gradient = view(made[1], op.inputs[1]);
    call.value_gradient = view(made[2], op.inputs[2]);
    call.dropout = attention_dropout(a, draw(id), env_);
    call.workspace = env_.backend.workspace(reference::attention_workspace(call));
    reference::attention_backward(call);
  } else {
    const NumberFormat number = format(op.outputs[0]);
    const std::int64_t rows = shape.batch * shape.heads * shape.queries;
    UnfusedAttentionBackward call;
    call.shape = shape;
    call.output_gradient = dy;
    call.query = value(op.inputs[0]);
    call.key = value(op.inputs[1]);
    call.value = value(op.inputs[2]);
    call.probabilities = dense_view(static_cast<const void*>(side[0]->data()), number, rows, shape.keys);
    if (a.dropout) {
      call.mask = reinterpret_cast<const std::uint8_t*>(side[1]->data());
      call.dropped_probabilities = dense_view(static_cast<const void*>(side[2]->data()), number, rows, shape.keys);
      call.dropout_probability = draw(id).probability;
    }
    call.query_gradient = view(made[0], op.inputs[0]);
    call.key_gradient = view(made[1], op.inputs[1]);
    call.value_gradient = view(made[2], op.inputs[2]);
    call.workspace = env_.backend.workspace(reference::unfused_attention_workspace(call));
    reference::unfused_attention_backward(call);
  }
  for (std::size_t i = 0; i < 3; ++i) contribute(op.inputs[i], std::move(made[i]));
}

}  // namespace plumbline
