#include "core/sharding/product_format.h"

#include <algorithm>

namespace plumbline {
namespace {

/// Products with a shorter side gain nothing from narrow operands.
constexpr std::int64_t shortest_quantized_side = 256;

}  // namespace

NumberFormat product_format(const Block& block, const Op& op, const Shard& shard) {
  if (!is_quantized(shard.formats.matmul)) return shard.formats.matmul;
  if (block.kind() != BlockKind::layer || !is_linear(op.kind)) return shard.formats.activation;
  const OpWork work = op_work(block, op, shard);
  const bool is_large = std::min(work.product->n, work.product->k) >= shortest_quantized_side;
  return is_large ? shard.formats.matmul : shard.formats.activation;
}

}  // namespace plumbline
