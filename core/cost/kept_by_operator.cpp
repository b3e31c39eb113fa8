#include "core/cost/kept_by_operator.h"

#include <algorithm>

#include "core/graph/slot.h"
#include "core/sharding/product_format.h"

namespace plumbline {
namespace {

/// Of a product whose outputs are counted on from `before`, every second one. Returns their share of its width.
double keep_alternate(const Block& block, const Op& op, const Shard& shard, std::int64_t before,
                      std::vector<bool>& tensors) {
  std::int64_t all = 0;
  std::int64_t kept = 0;
  for (const TensorId output : op.outputs) {
    const std::int64_t elements = local_elements(block.tensor(output), shard);
    all += elements;
    if (before++ % 2 != 0) continue;
    kept += elements;
    tensors[slot(output)] = true;
  }
  return static_cast<double>(kept) / static_cast<double>(all);
}

/// Whether a reduce-scatter makes the operator's output.
bool is_scattered(const Op& op, const Shard& shard) {
  const auto* linear = std::get_if<LinearAttributes>(&op.attributes);
  return linear != nullptr && linear->partition == WeightPartition::row && shard.sequence_ranks() > 1;
}

}  // namespace

Replay KeptByOperator::replay(const Block& block) const {
  Replay replay{{}, RecomputeMode::by_operator, tensors};
  for (const OpId id : block.execution_order()) {
    const std::vector<TensorId>& outputs = block.op(id).outputs;
    replay.replayed.push_back(
        !std::all_of(outputs.begin(), outputs.end(), [&](TensorId output) { return tensors[slot(output)]; }));
  }
  return replay;
}

KeptByOperator kept_by_operator(const Block& block, const Shard& shard) {
  KeptByOperator kept{std::vector<bool>(block.tensors().size(), false), std::vector<double>(block.ops().size(), 0.0)};
  std::int64_t products = 0;
  for (const OpId id : block.execution_order()) {
    const Op& op = block.op(id);
    double& share = kept.share[slot(id)];
    if (op.kind == OpKind::linear && product_format(block, op, shard) != NumberFormat::fp4) {
      share = keep_alternate(block, op, shard, products, kept.tensors);
      products += std::ssize(op.outputs);
    }
    const bool is_fused_attention = op.kind == OpKind::attention && shard.flash_attention == FlashAttention::on;
    if (is_fused_attention) share = 1;
    if (is_fused_attention || is_scattered(op, shard))
      for (const TensorId output : op.outputs) kept.tensors[slot(output)] = true;
  }
  return kept;
}

}  // namespace plumbline
