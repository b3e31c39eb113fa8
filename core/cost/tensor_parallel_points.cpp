#include "core/cost/tensor_parallel_points.h"

#include <algorithm>

namespace plumbline {
namespace {

/// Bytes of a tensor with all tokens of the context-parallel slice.
Bytes whole_bytes(Tensor tensor, const Shard& shard) {
  tensor.partition = Partition::replicated;
  return local_bytes(tensor, shard);
}

bool is_column_linear(const Op& op) {
  const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
  return op.kind == OpKind::linear && linear != nullptr && linear->partition == WeightPartition::column;
}

bool leaves_region(const Block& block, const Op& op) {
  if (op.kind == OpKind::embedding) return block.tensor(op.parameters.front()).partition == Partition::tensor;
  const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
  return op.kind == OpKind::linear && linear != nullptr && linear->partition == WeightPartition::row;
}

/// Maximum, sum and target logit of each token in fp32 (Megatron-LM's vocabulary-parallel cross-entropy).
constexpr std::int64_t loss_values_per_token = 3;

}  // namespace

std::vector<TensorParallelPoint> tensor_parallel_points(const Block& block, const Shard& shard) {
  std::vector<TensorParallelPoint> points;
  if (shard.tensor_parallel == 1) return points;
  const auto carries = [&](TensorId id) { return block.carries_gradient()[static_cast<std::size_t>(id.index())]; };
  std::vector<TensorId> entered;
  for (const OpId id : block.execution_order()) {
    const Op& op = block.op(id);
    if (is_column_linear(op) && std::find(entered.begin(), entered.end(), op.inputs.front()) == entered.end()) {
      entered.push_back(op.inputs.front());
      points.push_back(
          {PointKind::enter, whole_bytes(block.tensor(op.inputs.front()), shard), carries(op.inputs.front()), id});
    }
    if (leaves_region(block, op))
      points.push_back(
          {PointKind::leave, whole_bytes(block.tensor(op.outputs.front()), shard), carries(op.outputs.front()), id});
    if (op.kind == OpKind::cross_entropy && block.tensor(op.inputs.front()).partition == Partition::tensor)
      points.push_back(
          {PointKind::loss,
           storage(local_rows(block.tensor(op.inputs.front()), shard) * loss_values_per_token, NumberFormat::fp32),
           false, id});
  }
  return points;
}

}  // namespace plumbline
