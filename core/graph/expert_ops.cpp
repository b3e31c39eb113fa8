#include "core/graph/expert_ops.h"

#include "core/base/errors.h"

namespace plumbline::ops {

TensorId router(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t experts, std::int64_t chosen,
                Bias bias) {
  const Dimension scores = fixed_dimension(experts);
  block.add_op(OpKind::router, name, {x}, RouterAttributes{experts, chosen});
  const TensorId y =
      block.add_result(name, block.with_features(x, experts), block.tensor(x).partition, 0, ElementKind::fp32);
  block.add_parameter(name + ".weight", {scores, fixed_dimension(block.features(x))});
  if (bias == Bias::yes) block.add_parameter(name + ".bias", {scores});
  return y;
}

TensorId dispatch(BlockBuilder& block, const std::string& name, TensorId x, TensorId weights, std::int64_t chosen) {
  Shape shape = block.tensor(x).shape;
  shape.insert(shape.end() - 1, fixed_dimension(chosen));
  block.add_op(OpKind::dispatch, name, {x, weights});
  return block.add_result(name, std::move(shape), Partition::routed);
}

std::vector<TensorId> grouped_linear(BlockBuilder& block, const std::string& name, TensorId x,
                                     const std::vector<LinearOutput>& outputs, GroupedLinearSpec spec) {
  const std::int64_t in = block.features(x);
  std::int64_t total = 0;
  for (const LinearOutput& out : outputs) total += out.features;
  block.add_op(OpKind::grouped_linear, name, {x},
               GroupedLinearAttributes{spec.experts, in, total, spec.chosen, spec.partition});
  const Partition partition = spec.partition == WeightPartition::column ? Partition::routed_tensor : Partition::routed;
  const Dimension experts = fixed_dimension(spec.experts);
  std::vector<TensorId> results;
  for (const LinearOutput& out : outputs) {
    const std::string prefix = outputs.size() == 1 ? name : name + "." + out.name;
    const Dimension width = fixed_dimension(out.features);
    results.push_back(block.add_result(prefix, block.with_features(x, out.features), partition));
    block.add_parameter(prefix + ".weight", {experts, width, fixed_dimension(in)}, Partition::expert);
    if (spec.bias == Bias::yes) block.add_parameter(prefix + ".bias", {experts, width}, Partition::expert);
  }
  return results;
}

TensorId grouped_linear(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t features,
                        GroupedLinearSpec spec) {
  return grouped_linear(block, name, x, std::vector<LinearOutput>{{"", features, 0}}, spec).front();
}

TensorId combine(BlockBuilder& block, const std::string& name, TensorId routed, TensorId weights, std::int64_t chosen) {
  Shape shape = block.tensor(routed).shape;
  check(shape.size() > 2 && shape[shape.size() - 2] == fixed_dimension(chosen), "combine undoes dispatch");
  shape.erase(shape.end() - 2);
  block.add_op(OpKind::combine, name, {routed, weights});
  return block.add_result(name, std::move(shape), Partition::sequence);
}

}  // namespace plumbline::ops
