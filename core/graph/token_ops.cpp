#include "core/graph/token_ops.h"

#include "core/base/errors.h"

namespace plumbline::ops {
namespace {

Partition output_partition(WeightPartition weight, Partition input) {
  switch (weight) {
    case WeightPartition::column: return Partition::tensor;
    case WeightPartition::row: return Partition::sequence;
    case WeightPartition::replicated: break;
  }
  return input;
}

/// An operator whose output is like `model`.
TensorId add_like(BlockBuilder& block, OpKind kind, const std::string& name, const std::vector<TensorId>& inputs,
                  TensorId model, OpAttributes attributes = {}) {
  const Tensor like = block.tensor(model);
  block.add_op(kind, name, inputs, std::move(attributes));
  return block.add_result(name, like.shape, like.partition, like.partition_units);
}

}  // namespace

TensorId embedding(BlockBuilder& block, const std::string& name, TensorId ids, std::int64_t vocabulary,
                   std::int64_t features, Tied tied) {
  Shape shape = block.tensor(ids).shape;
  shape.push_back(fixed_dimension(features));
  block.add_op(OpKind::embedding, name, {ids});
  const TensorId y = block.add_result(name, std::move(shape), Partition::sequence);
  block.add_parameter(name + ".weight", {fixed_dimension(vocabulary), fixed_dimension(features)}, Partition::tensor, 0,
                      tied);
  return y;
}

TensorId position_embedding(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t positions) {
  const TensorId y = add_like(block, OpKind::position_embedding, name, {x}, x);
  block.add_parameter(name + ".weight", {fixed_dimension(positions), fixed_dimension(block.features(x))});
  return y;
}

std::vector<TensorId> linear(BlockBuilder& block, const std::string& name, TensorId x,
                             const std::vector<LinearOutput>& outputs, LinearSpec spec) {
  const std::int64_t in = block.features(x);
  const Partition partition = output_partition(spec.partition, block.tensor(x).partition);
  block.add_op(OpKind::linear, name, {x}, LinearAttributes{in, spec.partition});
  const Partition weight = spec.partition == WeightPartition::replicated ? Partition::replicated : Partition::tensor;
  const Partition bias = spec.partition == WeightPartition::column ? Partition::tensor : Partition::replicated;
  std::vector<TensorId> results;
  for (const LinearOutput& out : outputs) {
    const std::int64_t units = spec.partition == WeightPartition::column ? out.units : 0;
    const std::string prefix = outputs.size() == 1 ? name : name + "." + out.name;
    const Dimension width = fixed_dimension(out.features);
    results.push_back(block.add_result(prefix, block.with_features(x, out.features), partition, units));
    block.add_parameter(prefix + ".weight", {width, fixed_dimension(in)}, weight, units,
                        spec.tied ? Tied::yes : Tied::no);
    if (spec.bias == Bias::yes) block.add_parameter(prefix + ".bias", {width}, bias, units);
  }
  return results;
}

TensorId linear(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t features, LinearSpec spec) {
  return linear(block, name, x, std::vector<LinearOutput>{{"", features, 0}}, spec).front();
}

TensorId batched_matmul(BlockBuilder& block, const std::string& name, TensorId a, TensorId b) {
  Shape shape = block.tensor(a).shape;
  shape.back() = block.tensor(b).shape.back();
  block.add_op(OpKind::batched_matmul, name, {a, b});
  return block.add_result(name, std::move(shape), block.tensor(a).partition);
}

TensorId attention(BlockBuilder& block, const std::string& name, TensorId query, TensorId key, TensorId value,
                   AttentionAttributes attributes) {
  block.add_op(OpKind::attention, name, {query, key, value}, attributes);
  return block.add_result(name, block.with_features(query, attributes.heads * attributes.v_head_dim),
                          block.tensor(query).partition, attributes.heads);
}

TensorId norm(BlockBuilder& block, const std::string& name, OpKind kind, TensorId x) {
  return head_norm(block, name, kind, x, block.features(x));
}

TensorId head_norm(BlockBuilder& block, const std::string& name, OpKind kind, TensorId x, std::int64_t features) {
  check(is_token_norm(kind), "what normalises tokens is a norm of tokens");
  const TensorId y = add_like(block, kind, name, {x}, x);
  block.add_parameter(name + ".weight", {fixed_dimension(features)});
  if (record_of(kind).norm.has_bias) block.add_parameter(name + ".bias", {fixed_dimension(features)});
  return y;
}

TensorId activation(BlockBuilder& block, const std::string& name, TensorId x) {
  return add_like(block, OpKind::activation, name, {x}, x);
}

TensorId gated_activation(BlockBuilder& block, const std::string& name, TensorId gate, TensorId up, GateLimits limits) {
  return add_like(block, OpKind::gated_activation, name, {gate, up}, up, GatedActivationAttributes{limits});
}

TensorId rotary(BlockBuilder& block, const std::string& name, TensorId x, RotaryMagnitude magnitude) {
  return add_like(block, OpKind::rotary, name, {x}, x, RotaryAttributes{magnitude});
}

TensorId dropout(BlockBuilder& block, const std::string& name, TensorId x) {
  return add_like(block, OpKind::dropout, name, {x}, x);
}

TensorId softmax(BlockBuilder& block, const std::string& name, TensorId x) {
  return add_like(block, OpKind::softmax, name, {x}, x);
}

TensorId add(BlockBuilder& block, const std::string& name, TensorId a, TensorId b) {
  return add_like(block, OpKind::add, name, {a, b}, a);
}

TensorId concatenate(BlockBuilder& block, const std::string& name, const std::vector<TensorId>& parts) {
  check(!parts.empty(), "something is joined");
  const Tensor like = block.tensor(parts.front());
  Shape shape = like.shape;
  const std::size_t axis = shape.size() == 4 ? 1 : shape.size() - 1;  // images join along their channels
  shape[axis].factor = 0;
  for (const TensorId part : parts) {
    const Shape& joined = block.tensor(part).shape;
    shape[axis].factor += axis == 1 ? joined[1].factor : joined.back().factor;
  }
  block.add_op(OpKind::concatenate, name, parts);
  return block.add_result(name, std::move(shape), like.partition, like.partition_units);
}

TensorId select(BlockBuilder& block, const std::string& name, TensorId x, Shape shape, Partition partition) {
  block.add_op(OpKind::select, name, {x});
  return block.add_result(name, std::move(shape), partition);
}

TensorId cross_entropy(BlockBuilder& block, const std::string& name, TensorId logits, TensorId labels,
                       std::int64_t classes) {
  block.add_op(OpKind::cross_entropy, name, {logits, labels}, CrossEntropyAttributes{classes});
  return block.add_result(name, {fixed_dimension(1)}, Partition::replicated, 0, ElementKind::fp32);
}

}  // namespace plumbline::ops
