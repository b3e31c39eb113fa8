#include "core/graph/recurrent_ops.h"
#include "models/builders/layer_parts.h"

namespace plumbline {

// modeling_qwen3_next.py, Qwen3NextGatedDeltaNet; divided over tensor-parallel ranks by heads, as in Megatron-Core
// (megatron/core/ssm/gated_delta_net.py).
TensorId delta_net_part(BlockBuilder& block, const DeltaNetDescription& net, OpKind norm, TensorId x) {
  constexpr LinearSpec column{WeightPartition::column, Bias::no, false};
  const std::int64_t hidden = block.features(x);
  const std::int64_t values = net.value_heads * net.value_head_dim;
  const std::vector<TensorId> projected = ops::linear(
      block, "delta_net.qkvz", x,
      {{"qkv", 2 * net.key_heads * net.key_head_dim + values, net.key_heads}, {"z", values, net.value_heads}}, column);
  const TensorId gates =
      ops::linear(block, "delta_net.ba", x, {{"ba", 2 * net.value_heads, net.key_heads}}, column).front();
  const TensorId qkv = ops::causal_convolution(block, "delta_net.convolution", projected[0], net.convolution);
  const TensorId read = ops::delta_rule(block, "delta_net.rule", qkv, gates,
                                        {net.key_heads, net.value_heads, net.key_head_dim, net.value_head_dim});
  const TensorId normalised = ops::head_norm(block, "delta_net.norm", norm, read, net.value_head_dim);
  const TensorId gated = ops::gated_activation(block, "delta_net.gated", projected[1], normalised);
  return ops::linear(block, "delta_net.output", gated, hidden, {WeightPartition::row, Bias::no, false});
}

}  // namespace plumbline
