#include "core/cost/kept_by_operator.h"

#include "core/cost/product_format.h"
#include "core/cost/saved_tensors.h"

namespace plumbline {
namespace {

/// Of a product whose outputs are counted on from `before`: the bytes that are kept, and their share of its width.
double keep_alternate(const Block& block, const Op& op, const Shard& shard, std::int64_t before, Bytes& bytes) {
  std::int64_t all = 0;
  std::int64_t kept = 0;
  for (const TensorId output : op.outputs) {
    const std::int64_t elements = local_elements(block.tensor(output), shard);
    all += elements;
    if (before++ % 2 != 0) continue;
    kept += elements;
    bytes += local_bytes(block.tensor(output), shard);
  }
  return static_cast<double>(kept) / static_cast<double>(all);
}

}  // namespace

KeptByOperator kept_by_operator(const Block& block, const Shard& shard) {
  KeptByOperator kept;
  kept.share.assign(block.ops().size(), 0.0);
  std::int64_t products = 0;
  for (const OpId id : block.execution_order()) {
    const Op& op = block.op(id);
    double& share = kept.share[static_cast<std::size_t>(id.index())];
    if (op.kind == OpKind::linear && product_format(block, op, shard) != NumberFormat::fp4) {
      share = keep_alternate(block, op, shard, products, kept.bytes);
      products += std::ssize(op.outputs);
    } else if (op.kind == OpKind::attention) {
      share = 1;
      kept.bytes += local_bytes(block.tensor(op.outputs.front()), shard);
    }
  }
  for (const SavedTensor& saved : saved_tensors(block, shard))
    if (saved.op.is_valid() && saved.kind == SavedKind::statistics && block.op(saved.op).kind == OpKind::attention)
      kept.bytes += saved.bytes;
  return kept;
}

}  // namespace plumbline
