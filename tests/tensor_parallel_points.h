#pragma once
/// \file tensor_parallel_points.h: where a block's tensor-parallel regions begin and end, and so what it communicates:
/// Megatron-LM's formulas, against which the instructions of a block are held.
///
/// Model: a tensor that column linears read is entered (forward: all-gather with sequence parallelism, else nothing;
/// backward: reduce-scatter, and re-gather for the gradients of trained weights, else all-reduce); a row linear's or
/// divided embedding's output is left (forward: reduce-scatter, else all-reduce; backward: all-gather, else nothing).
/// One collective per tensor, however many operators read it.
/// Source: Megatron-LM, arXiv:1909.08053 section 3; sequence parallelism, arXiv:2205.05198 section 4.2.2; its
/// tensor_parallel/layers.py, whose backward gathers the input where the weight requires a gradient.

#include <algorithm>
#include <vector>

#include "core/sharding/shard.h"

namespace plumbline {

enum class PointKind : std::uint8_t { enter, leave, loss };

struct TensorParallelPoint {
  PointKind kind = PointKind::enter;
  Bytes bytes{0};              ///< the whole tensor, all tokens of the context-parallel slice, padded to equal parts
  bool needs_gradient = true;  ///< of the tensor
  bool trains = false;         ///< whether a linear that enters makes a weight gradient of it
};

/// Bytes of what is cut into as many equal parts as there are ranks, the last one padded.
inline Bytes padded_bytes(std::int64_t elements, NumberFormat format, const Shard& shard) {
  return storage(divided(elements, shard.tensor_parallel) * shard.tensor_parallel, format);
}

/// Bytes of a tensor with all tokens of the context-parallel slice.
inline Bytes whole_bytes(Tensor tensor, const Shard& shard) {
  tensor.partition = Partition::replicated;
  return padded_bytes(local_elements(tensor, shard), storage_format(tensor, shard.formats), shard);
}

inline bool is_column_linear(const Op& op) {
  const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
  return op.kind == OpKind::linear && linear != nullptr && linear->partition == WeightPartition::column;
}

inline bool leaves_region(const Block& block, const Op& op) {
  if (op.kind == OpKind::embedding) return block.tensor(op.parameters.front()).partition == Partition::tensor;
  const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
  return op.kind == OpKind::linear && linear != nullptr && linear->partition == WeightPartition::row;
}

/// Maxima of the tokens, then sums and target logits, in fp32 (Megatron-LM's vocabulary-parallel cross-entropy).
inline Bytes loss_bytes(const Tensor& logits, const Shard& shard) {
  const std::int64_t tokens = local_rows(logits, shard);
  return padded_bytes(tokens, NumberFormat::fp32, shard) + padded_bytes(2 * tokens, NumberFormat::fp32, shard);
}

[[nodiscard]] inline std::vector<TensorParallelPoint> tensor_parallel_points(const Block& block, const Shard& shard) {
  std::vector<TensorParallelPoint> points;
  if (shard.tensor_parallel == 1) return points;
  const auto carries = [&](TensorId id) { return block.carries_gradient()[static_cast<std::size_t>(id.index())]; };
  const auto trains = [&](const Op& op) { return std::any_of(op.parameters.begin(), op.parameters.end(), carries); };
  std::vector<std::pair<TensorId, std::size_t>> entered;  // with the point of each
  const auto enter = [&](const Op& op) {
    const TensorId x = op.inputs.front();
    auto found = std::find_if(entered.begin(), entered.end(), [&](const auto& one) { return one.first == x; });
    if (found == entered.end()) {
      found = entered.insert(entered.end(), {x, points.size()});
      points.push_back({PointKind::enter, whole_bytes(block.tensor(x), shard), carries(x), false});
    }
    points[found->second].trains = points[found->second].trains || trains(op);
  };
  for (const OpId id : block.execution_order()) {
    const Op& op = block.op(id);
    if (is_column_linear(op)) enter(op);
    if (leaves_region(block, op))
      points.push_back(
          {PointKind::leave, whole_bytes(block.tensor(op.outputs.front()), shard), carries(op.outputs.front()), false});
    if (op.kind == OpKind::cross_entropy && block.tensor(op.inputs.front()).partition == Partition::tensor)
      points.push_back({PointKind::loss, loss_bytes(block.tensor(op.inputs.front()), shard), false, false});
  }
  return points;
}

}  // namespace plumbline
