#include "core/cost/attention_scratch.h"

#include <algorithm>

namespace plumbline {
namespace {

constexpr std::int64_t tokens_of_tile = 64;  // rows and columns of the workspace are padded to it
constexpr std::int64_t most_features = 128;

bool is_taken(const AttentionAttributes& attention, const Shard& shard) {
  return bits(shard.formats.activation) == 16 && shard.flash_attention == FlashAttention::on &&
         shard.query_ranks() == 1 && !attention.dropout && attention.qk_head_dim <= most_features &&
         attention.v_head_dim <= most_features;
}

Bytes scratch_of(const Block& block, const Op& op, const Shard& shard) {
  const auto& attention = std::get<AttentionAttributes>(op.attributes);
  if (!is_taken(attention, shard)) return Bytes(0);
  const std::int64_t batch = shard.lengths.batch;
  const std::int64_t heads = divided(attention.heads, shard.head_ranks());
  const std::int64_t parts = shard.exchanges_heads() ? shard.context_parallel : 1;
  const std::int64_t queries = divided(local_rows(block.tensor(op.inputs[0]), shard) * parts, batch);
  const std::int64_t keys = divided(local_rows(block.tensor(op.inputs[1]), shard) * parts, batch);
  const std::int64_t scores = batch * heads * padded(queries, tokens_of_tile) * padded(keys, tokens_of_tile);
  const bool is_shared = attention.kv_heads < attention.heads;
  const std::int64_t features = is_shared ? attention.qk_head_dim + attention.v_head_dim : 0;
  return storage(scores + batch * heads * keys * features, shard.formats.activation);
}

}  // namespace

Bytes attention_scratch(const Block& block, const Shard& shard) {
  Bytes most(0);
  for (const Op& op : block.ops())
    if (op.kind == OpKind::attention) most = std::max(most, scratch_of(block, op, shard));
  return most;
}

}  // namespace plumbline
