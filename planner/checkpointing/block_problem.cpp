// The recompute problem of a block of a network.

#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "planner/checkpointing/recompute_problem.h"

namespace plumbline {
namespace {

std::size_t at(TensorId id) { return static_cast<std::size_t>(id.index()); }

/// One op as a block of its own, so that the one pricer of blocks prices it.
Block block_of(const Block& block, const Op& op) {
  Block::Parts parts;
  parts.name = op.name;
  parts.kind = block.kind();
  std::vector<TensorId> renamed(block.tensors().size());
  const auto take = [&](std::vector<TensorId>& ids) {
    for (TensorId& id : ids) {
      TensorId& own = renamed[at(id)];
      if (!own.is_valid()) {
        own = TensorId(static_cast<std::int32_t>(parts.tensors.size()));
        parts.tensors.push_back(block.tensor(id));
      }
      id = own;
    }
  };
  Op own = op;
  take(own.inputs);
  for (const TensorId id : own.inputs) {
    Tensor& tensor = parts.tensors[at(id)];
    if (tensor.role != TensorRole::activation) continue;
    tensor.role = TensorRole::input;
  }
  parts.inputs = own.inputs;
  take(own.parameters);
  take(own.outputs);
  parts.outputs = own.outputs;
  parts.ops.push_back(std::move(own));
  return Block(std::move(parts));
}

/// Times scaled so that they sum to `total`; the largest takes what rounding leaves.
void scale_to(std::vector<RecomputeOp>& ops, Picoseconds total) {
  Picoseconds sum(0);
  std::size_t largest = 0;
  for (std::size_t o = 0; o < ops.size(); ++o) {
    sum += ops[o].time;
    if (ops[o].time > ops[largest].time) largest = o;
  }
  if (sum == Picoseconds(0)) return;
  Picoseconds left = total;
  for (RecomputeOp& op : ops) {
    op.time = Picoseconds(std::llround(static_cast<double>(op.time.value()) * (total / sum)));
    left -= op.time;
  }
  ops[largest].time += left;
}

/// Values of the tensors that flow; parameters are always there.
std::vector<std::int32_t> add_tensors(RecomputeProblem& problem, const Block& block, const Shard& shard,
                                      const std::vector<std::int32_t>& position) {
  std::vector<std::int32_t> value_of(block.tensors().size(), -1);
  for (std::size_t t = 0; t < block.tensors().size(); ++t) {
    const Tensor& tensor = block.tensors()[t];
    if (tensor.role == TensorRole::parameter) continue;
    const OpId producer = block.producer(TensorId(static_cast<std::int32_t>(t)));
    const Bytes size = tensor.element == ElementKind::index ? Bytes(0) : local_bytes(tensor, shard);
    value_of[t] = problem.add_value(
        {tensor.name, size, producer.is_valid() ? position[static_cast<std::size_t>(producer.index())] : -1, false});
  }
  return value_of;
}

}  // namespace

RecomputeProblem recompute_problem(const Block& block, const Shard& shard, const BlockGroups& groups,
                                   const BlockPricer& pricer) {
  RecomputeProblem problem;
  std::vector<std::int32_t> position(block.ops().size());
  for (const OpId id : block.execution_order()) {
    const Op& op = block.op(id);
    position[static_cast<std::size_t>(id.index())] = static_cast<std::int32_t>(problem.ops.size());
    const ForwardCost alone = pricer.price_forward(block_of(block, op), shard, groups);
    problem.ops.push_back(
        {op.name, alone.time.total(), {}, {}, op.kind != OpKind::cross_entropy, alone.time, alone.host});
  }
  scale_to(problem.ops, pricer.price_forward(block, shard, groups).time.total());
  const std::vector<std::int32_t> value_of = add_tensors(problem, block, shard, position);
  for (const OpId id : block.execution_order())
    for (const TensorId input : block.op(id).inputs)
      problem.ops[static_cast<std::size_t>(position[static_cast<std::size_t>(id.index())])].inputs.push_back(
          value_of[at(input)]);
  const auto producer_position = [&](TensorId tensor) {
    const OpId producer = block.producer(tensor);
    return producer.is_valid() ? position[static_cast<std::size_t>(producer.index())] : -1;
  };
  for (const SavedTensor& saved : saved_tensors(block, shard)) {
    if (saved.kind == SavedKind::gathered)
      problem.add_value({saved.name, saved.bytes, producer_position(saved.tensor), true});
    else if (saved.tensor.is_valid())
      problem.values[static_cast<std::size_t>(value_of[at(saved.tensor)])].needed = true;
    else
      problem.add_value({saved.name, saved.bytes, position[static_cast<std::size_t>(saved.op.index())], true});
  }
  return problem;
}

}  // namespace plumbline
