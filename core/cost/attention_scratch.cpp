#include "core/cost/attention_scratch.h"

#include <algorithm>

namespace plumbline {
namespace {

constexpr std::int64_t keys_of_part = 128;
constexpr std::int64_t most_features = 128;

bool is_taken(const AttentionAttributes& attention, const Shard& shard) {
  return bits(shard.formats.activation) == 16 && shard.flash_attention == FlashAttention::on &&
         shard.context_parallel == 1 && !attention.dropout && attention.qk_head_dim <= most_features &&
         attention.v_head_dim <= most_features;
}

Bytes scratch_of(const Block& block, const Op& op, const Shard& shard) {
  const auto& attention = std::get<AttentionAttributes>(op.attributes);
  if (!is_taken(attention, shard)) return Bytes(0);
  const std::int64_t queries = local_elements(block.tensor(op.inputs[0]), shard);
  const std::int64_t keys = divided(local_rows(block.tensor(op.inputs[1]), shard), shard.lengths.batch);
  const Bytes parts = storage(queries, NumberFormat::fp32) * divided(keys, keys_of_part);
  const bool is_shared = attention.kv_heads < attention.heads;
  return parts + (is_shared ? storage(queries, shard.formats.activation) * 2 : Bytes(0));
}

}  // namespace

Bytes attention_scratch(const Block& block, const Shard& shard) {
  Bytes most(0);
  for (const Op& op : block.ops())
    if (op.kind == OpKind::attention) most = std::max(most, scratch_of(block, op, shard));
  return most;
}

}  // namespace plumbline
