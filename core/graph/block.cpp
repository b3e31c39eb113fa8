#include "core/graph/block.h"

#include "core/base/errors.h"
#include "core/graph/block_topology.h"
#include "core/graph/shape_rules.h"

namespace plumbline {
namespace {

/// A tensor carries a gradient when it is a trained parameter's result or depends on one.
std::vector<bool> gradient_flow(const Block::Parts& parts, const std::vector<OpId>& order) {
  std::vector<bool> flows(parts.tensors.size(), false);
  const auto slot = [](TensorId id) { return static_cast<std::size_t>(id.index()); };
  for (const TensorId input : parts.inputs)
    flows[slot(input)] = parts.needs_input_gradient && parts.tensors[slot(input)].element != ElementKind::index;
  for (std::size_t i = 0; i < parts.tensors.size(); ++i)
    if (parts.tensors[i].role == TensorRole::parameter) flows[i] = parts.tensors[i].trainable;
  for (const OpId id : order) {
    const Op& op = parts.ops[static_cast<std::size_t>(id.index())];
    bool any = false;
    for (const TensorId t : op.inputs) any = any || flows[slot(t)];
    for (const TensorId t : op.parameters) any = any || flows[slot(t)];
    for (const TensorId t : op.outputs) flows[slot(t)] = any;
  }
  return flows;
}

}  // namespace

Block::Block(Parts parts) : parts_(std::move(parts)) {
  if (const auto problem = find_problem(parts_)) throw InputError(*problem);
  const auto order = topological_order(block_topology(parts_.ops, parts_.tensors.size()));
  if (!order) throw InputError({"block " + parts_.name, "its operators form a cycle", "an acyclic graph", ""});
  order_ = *order;
  producers_.resize(parts_.tensors.size());
  consumers_.resize(parts_.tensors.size());
  for (const OpId id : order_) {
    for (const TensorId output : op(id).outputs) producers_[static_cast<std::size_t>(output.index())] = id;
    for (const TensorId input : op(id).inputs) consumers_[static_cast<std::size_t>(input.index())].push_back(id);
  }
  carries_gradient_ = gradient_flow(parts_, order_);
}

}  // namespace plumbline
