#include "core/graph/block_builder.h"

#include "core/base/errors.h"

namespace plumbline {

BlockBuilder::BlockBuilder(std::string name, BlockKind kind) {
  parts_.name = std::move(name);
  parts_.kind = kind;
}

const Tensor& BlockBuilder::tensor(TensorId id) const {
  return parts_.tensors.at(static_cast<std::size_t>(id.index()));
}

std::int64_t BlockBuilder::features(TensorId id) const { return tensor(id).shape.back().factor; }

Shape BlockBuilder::with_features(TensorId id, std::int64_t features) const {
  Shape shape = tensor(id).shape;
  shape.back() = fixed_dimension(features);
  return shape;
}

TensorId BlockBuilder::add_tensor(Tensor tensor) {
  parts_.tensors.push_back(std::move(tensor));
  return TensorId(static_cast<std::int32_t>(parts_.tensors.size()) - 1);
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

void BlockBuilder::add_op(OpKind kind, std::string name, std::vector<TensorId> inputs, OpAttributes attributes) {
  parts_.ops.push_back(Op{kind, std::move(name), std::move(attributes), std::move(inputs), {}, {}});
}

TensorId BlockBuilder::add_result(std::string name, Shape shape, Partition partition, std::int64_t units,
                                  ElementKind element) {
  const TensorId id =
      add_tensor({std::move(name), std::move(shape), TensorRole::activation, element, partition, units, true, false});
  parts_.ops.back().outputs.push_back(id);
  return id;
}

TensorId BlockBuilder::add_parameter(std::string name, Shape shape, Partition partition, std::int64_t units,
                                     Tied tied) {
  check(!parts_.ops.empty(), "a parameter belongs to an op");
  const TensorId id = add_tensor({std::move(name), std::move(shape), TensorRole::parameter, ElementKind::compute,
                                  partition, units, true, tied == Tied::yes});
  parts_.ops.back().parameters.push_back(id);
  return id;
}

Block BlockBuilder::build() { return Block(std::move(parts_)); }

}  // namespace plumbline
