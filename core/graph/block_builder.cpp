#include "core/graph/block_builder.h"

#include "core/base/errors.h"

namespace plumbline {
namespace {

Shape with_last(Shape shape, std::int64_t size) {
  shape.back() = fixed_dimension(size);
  return shape;
}

Partition output_partition(WeightPartition weight, Partition input) {
  switch (weight) {
    case WeightPartition::column: return Partition::tensor;
    case WeightPartition::row: return Partition::sequence;
    case WeightPartition::replicated: break;
  }
  return input;
}

/// Output length of a convolution or pooling along one axis.
std::int64_t strided(std::int64_t length, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  check(stride > 0, "a stride is positive");
  return (length + 2 * padding - kernel) / stride + 1;
}

}  // namespace

BlockBuilder::BlockBuilder(std::string name, BlockKind kind) {
  parts_.name = std::move(name);
  parts_.kind = kind;
}

const Tensor& BlockBuilder::tensor(TensorId id) const {
  return parts_.tensors.at(static_cast<std::size_t>(id.index()));
}
std::int64_t BlockBuilder::features(TensorId id) const { return tensor(id).shape.back().factor; }

TensorId BlockBuilder::add_tensor(Tensor tensor) {
  parts_.tensors.push_back(std::move(tensor));
  return TensorId(static_cast<std::int32_t>(parts_.tensors.size()) - 1);
}

TensorId BlockBuilder::add_parameter(const std::string& name, Shape shape, Partition partition, std::int64_t units) {
  const TensorId id =
      add_tensor({name, std::move(shape), TensorRole::parameter, ElementKind::compute, partition, units, true, false});
  parts_.ops.back().parameters.push_back(id);
  return id;
}

Op& BlockBuilder::add_op(OpKind kind, std::string name, std::vector<TensorId> inputs, OpAttributes attributes) {
  parts_.ops.push_back(Op{kind, std::move(name), std::move(attributes), std::move(inputs), {}, {}});
  return parts_.ops.back();
}

TensorId BlockBuilder::result(Op& op, Shape shape, Partition partition, std::int64_t units, ElementKind element) {
  const TensorId id =
      add_tensor({op.name, std::move(shape), TensorRole::activation, element, partition, units, true, false});
  op.outputs.push_back(id);
  return id;
}

TensorId BlockBuilder::same_shape(OpKind kind, const std::string& name, std::vector<TensorId> inputs) {
  const Tensor like = tensor(inputs.front());
  Op& op = add_op(kind, name, std::move(inputs));
  return result(op, like.shape, like.partition, like.partition_units);
}

TensorId BlockBuilder::input(std::string name, Shape shape, ElementKind element, Partition partition) {
  const TensorId id =
      add_tensor({std::move(name), std::move(shape), TensorRole::input, element, partition, 0, true, false});
  parts_.inputs.push_back(id);
  return id;
}

TensorId BlockBuilder::constant(std::string name, Shape shape, ElementKind element) {
  return add_tensor(
      {std::move(name), std::move(shape), TensorRole::input, element, Partition::replicated, 0, true, false});
}

TensorId BlockBuilder::embedding(std::string name, TensorId ids, std::int64_t vocabulary, std::int64_t width,
                                 Tied tied) {
  Shape shape = tensor(ids).shape;
  shape.push_back(fixed_dimension(width));
  Op& op = add_op(OpKind::embedding, name, {ids});
  const TensorId y = result(op, std::move(shape), Partition::sequence);
  add_parameter(name + ".weight", {fixed_dimension(vocabulary), fixed_dimension(width)}, Partition::tensor);
  parts_.tensors.back().tied = tied == Tied::yes;
  return y;
}

TensorId BlockBuilder::position_embedding(std::string name, TensorId x, std::int64_t positions) {
  const TensorId y = same_shape(OpKind::position_embedding, name, {x});
  add_parameter(name + ".weight", {fixed_dimension(positions), fixed_dimension(features(x))}, Partition::replicated);
  return y;
}

std::vector<TensorId> BlockBuilder::linear(std::string name, TensorId x, const std::vector<LinearOutput>& outputs,
                                           LinearSpec spec) {
  const Shape in_shape = tensor(x).shape;
  const std::int64_t in = features(x);
  const Partition partition = output_partition(spec.partition, tensor(x).partition);
  add_op(OpKind::linear, name, {x}, LinearAttributes{in, spec.partition});
  const Partition weight = spec.partition == WeightPartition::replicated ? Partition::replicated : Partition::tensor;
  const Partition bias = spec.partition == WeightPartition::column ? Partition::tensor : Partition::replicated;
  std::vector<TensorId> results;
  for (const LinearOutput& out : outputs) {
    const std::int64_t units = spec.partition == WeightPartition::column ? out.units : 0;
    const std::string prefix = outputs.size() == 1 ? name : name + "." + out.name;
    const TensorId y = result(parts_.ops.back(), with_last(in_shape, out.features), partition, units);
    parts_.tensors.back().name = prefix;
    const TensorId w =
        add_parameter(prefix + ".weight", {fixed_dimension(out.features), fixed_dimension(in)}, weight, units);
    parts_.tensors[static_cast<std::size_t>(w.index())].tied = spec.tied;
    if (spec.bias == Bias::yes) add_parameter(prefix + ".bias", {fixed_dimension(out.features)}, bias, units);
    results.push_back(y);
  }
  return results;
}

TensorId BlockBuilder::linear(std::string name, TensorId x, std::int64_t out_features, LinearSpec spec) {
  return linear(std::move(name), x, std::vector<LinearOutput>{{"", out_features, 0}}, spec).front();
}

TensorId BlockBuilder::norm(std::string name, NormKind kind, TensorId x) {
  return head_norm(std::move(name), kind, x, features(x));
}

TensorId BlockBuilder::head_norm(std::string name, NormKind kind, TensorId x, std::int64_t width) {
  const TensorId y = same_shape(kind == NormKind::layer_norm ? OpKind::layer_norm : OpKind::rms_norm, name, {x});
  add_parameter(name + ".weight", {fixed_dimension(width)}, Partition::replicated);
  if (kind == NormKind::layer_norm) add_parameter(name + ".bias", {fixed_dimension(width)}, Partition::replicated);
  return y;
}

TensorId BlockBuilder::gated_activation(std::string name, TensorId gate, TensorId up) {
  const Tensor like = tensor(up);
  Op& op = add_op(OpKind::gated_activation, std::move(name), {gate, up});
  return result(op, like.shape, like.partition, like.partition_units);
}

TensorId BlockBuilder::attention(std::string name, TensorId query, TensorId key, TensorId value,
                                 AttentionAttributes attributes) {
  const Tensor q = tensor(query);
  Op& op = add_op(OpKind::attention, name, {query, key, value}, attributes);
  return result(op, with_last(q.shape, attributes.heads * attributes.v_head_dim), q.partition, attributes.heads);
}

TensorId BlockBuilder::batched_matmul(std::string name, TensorId a, TensorId b) {
  Shape shape = tensor(a).shape;
  shape.back() = tensor(b).shape.back();
  const Partition partition = tensor(a).partition;
  Op& op = add_op(OpKind::batched_matmul, name, {a, b});
  return result(op, std::move(shape), partition);
}

TensorId BlockBuilder::concatenate(std::string name, const std::vector<TensorId>& joined) {
  check(!joined.empty(), "something is joined");
  Shape shape = tensor(joined.front()).shape;
  // Token tensors join along their features, images along their channels.
  const bool image = shape.size() == 4;
  Dimension& axis = image ? shape[1] : shape.back();
  axis.factor = 0;
  for (const TensorId part : joined) axis.factor += image ? tensor(part).shape[1].factor : features(part);
  const Tensor like = tensor(joined.front());
  Op& op = add_op(OpKind::concatenate, name, joined);
  return result(op, std::move(shape), like.partition, like.partition_units);
}

TensorId BlockBuilder::select(std::string name, TensorId x, Shape shape, Partition partition) {
  Op& op = add_op(OpKind::select, std::move(name), {x});
  return result(op, std::move(shape), partition);
}

TensorId BlockBuilder::cross_entropy(std::string name, TensorId logits, TensorId labels, std::int64_t classes) {
  Op& op = add_op(OpKind::cross_entropy, std::move(name), {logits, labels}, CrossEntropyAttributes{classes});
  return result(op, {fixed_dimension(1)}, Partition::replicated, 0, ElementKind::fp32);
}

TensorId BlockBuilder::router(std::string name, TensorId x, std::int64_t experts, std::int64_t chosen, Bias bias) {
  const Tensor like = tensor(x);
  const std::int64_t in = features(x);
  Op& op = add_op(OpKind::router, name, {x}, RouterAttributes{experts, chosen});
  const TensorId y = result(op, with_last(like.shape, experts), like.partition, 0, ElementKind::fp32);
  add_parameter(name + ".weight", {fixed_dimension(experts), fixed_dimension(in)}, Partition::replicated);
  if (bias == Bias::yes) add_parameter(name + ".bias", {fixed_dimension(experts)}, Partition::replicated);
  return y;
}

TensorId BlockBuilder::dispatch(std::string name, TensorId x, TensorId weights, std::int64_t chosen) {
  Shape shape = tensor(x).shape;
  shape.insert(shape.end() - 1, fixed_dimension(chosen));
  Op& op = add_op(OpKind::dispatch, std::move(name), {x, weights});
  return result(op, std::move(shape), Partition::routed);
}

std::vector<TensorId> BlockBuilder::grouped_linear(std::string name, TensorId x,
                                                   const std::vector<LinearOutput>& outputs, GroupedLinearSpec spec) {
  const Shape in_shape = tensor(x).shape;
  const std::int64_t in = features(x);
  std::int64_t total = 0;
  for (const LinearOutput& out : outputs) total += out.features;
  add_op(OpKind::grouped_linear, name, {x},
         GroupedLinearAttributes{spec.experts, in, total, spec.chosen, spec.partition});
  const Partition partition = spec.partition == WeightPartition::column ? Partition::routed_tensor : Partition::routed;
  std::vector<TensorId> results;
  for (const LinearOutput& out : outputs) {
    const std::string prefix = outputs.size() == 1 ? name : name + "." + out.name;
    results.push_back(result(parts_.ops.back(), with_last(in_shape, out.features), partition));
    parts_.tensors.back().name = prefix;
    const Dimension experts = fixed_dimension(spec.experts);
    const Dimension width = fixed_dimension(out.features);
    add_parameter(prefix + ".weight", {experts, width, fixed_dimension(in)}, Partition::expert);
    if (spec.bias == Bias::yes) add_parameter(prefix + ".bias", {experts, width}, Partition::expert);
  }
  return results;
}

TensorId BlockBuilder::grouped_linear(std::string name, TensorId x, std::int64_t out_features, GroupedLinearSpec spec) {
  return grouped_linear(std::move(name), x, std::vector<LinearOutput>{{"", out_features, 0}}, spec).front();
}

TensorId BlockBuilder::combine(std::string name, TensorId routed, TensorId weights, std::int64_t chosen) {
  Shape shape = tensor(routed).shape;
  check(shape.size() > 2 && shape[shape.size() - 2] == fixed_dimension(chosen), "combine undoes dispatch");
  shape.erase(shape.end() - 2);
  Op& op = add_op(OpKind::combine, std::move(name), {routed, weights});
  return result(op, std::move(shape), Partition::sequence);
}

TensorId BlockBuilder::convolution(std::string name, TensorId x, ConvolutionAttributes a, Bias bias) {
  const Shape in = tensor(x).shape;
  check(in.size() == 4, "images are [batch, channels, height, width]");
  const Shape shape = {in[0], fixed_dimension(a.out_channels),
                       fixed_dimension(strided(in[2].factor, a.kernel_height, a.stride, a.padding)),
                       fixed_dimension(strided(in[3].factor, a.kernel_width, a.stride, a.padding))};
  Op& op = add_op(OpKind::convolution, name, {x}, a);
  const TensorId y = result(op, shape, Partition::replicated);
  add_parameter(name + ".weight",
                {fixed_dimension(a.out_channels), fixed_dimension(a.in_channels / a.groups),
                 fixed_dimension(a.kernel_height), fixed_dimension(a.kernel_width)},
                Partition::replicated);
  if (bias == Bias::yes) add_parameter(name + ".bias", {fixed_dimension(a.out_channels)}, Partition::replicated);
  return y;
}

TensorId BlockBuilder::batch_norm(std::string name, TensorId x) {
  const std::int64_t channels = tensor(x).shape.at(1).factor;
  const TensorId y = same_shape(OpKind::batch_norm, name, {x});
  add_parameter(name + ".weight", {fixed_dimension(channels)}, Partition::replicated);
  add_parameter(name + ".bias", {fixed_dimension(channels)}, Partition::replicated);
  return y;
}

TensorId BlockBuilder::pooling(std::string name, TensorId x, PoolingAttributes a) {
  Shape shape = tensor(x).shape;
  for (std::size_t axis = 2; axis < shape.size(); ++axis)
    shape[axis] = fixed_dimension(strided(shape[axis].factor, a.kernel, a.stride, a.padding));
  Op& op = add_op(OpKind::pooling, std::move(name), {x}, a);
  return result(op, std::move(shape), Partition::replicated);
}

TensorId BlockBuilder::upsample(std::string name, TensorId x, std::int64_t factor) {
  Shape shape = tensor(x).shape;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) shape[axis].factor *= factor;
  Op& op = add_op(OpKind::upsample, std::move(name), {x});
  return result(op, std::move(shape), Partition::replicated);
}

void BlockBuilder::extra_parameter(std::string name, Shape shape, Partition partition, std::int64_t units) {
  check(!parts_.ops.empty(), "an extra parameter belongs to an op");
  add_parameter(name, std::move(shape), partition, units);
}

Block BlockBuilder::build() { return Block(std::move(parts_)); }

}  // namespace plumbline
