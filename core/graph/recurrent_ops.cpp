#include "core/graph/recurrent_ops.h"

namespace plumbline::ops {

TensorId causal_convolution(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t kernel) {
  const Tensor like = block.tensor(x);
  block.add_op(OpKind::causal_convolution, name, {x});
  const TensorId y = block.add_result(name, like.shape, like.partition, like.partition_units);
  block.add_parameter(name + ".weight", {like.shape.back(), fixed_dimension(kernel)}, like.partition,
                      like.partition_units);
  return y;
}

TensorId delta_rule(BlockBuilder& block, const std::string& name, TensorId qkv, TensorId gates,
                    DeltaRuleAttributes attributes) {
  const std::int64_t heads = attributes.value_heads;
  block.add_op(OpKind::delta_rule, name, {qkv, gates}, attributes);
  const TensorId y = block.add_result(name, block.with_features(qkv, heads * attributes.value_head_dim),
                                      block.tensor(qkv).partition, heads);
  block.add_parameter(name + ".a_log", {fixed_dimension(heads)}, Partition::tensor, heads);
  block.add_parameter(name + ".dt_bias", {fixed_dimension(heads)}, Partition::tensor, heads);
  return y;
}

}  // namespace plumbline::ops
