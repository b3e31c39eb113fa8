#include "models/builders/layer_parts.h"

namespace plumbline {
namespace {

struct QueryKeyValue {
  TensorId query;
  TensorId key;
  TensorId value;
  TensorId gate = {};  ///< of what is attended to, where there is one
};

constexpr LinearSpec column(Bias bias = Bias::no) { return {WeightPartition::column, bias, false}; }
constexpr LinearSpec replicated(Bias bias = Bias::no) { return {WeightPartition::replicated, bias, false}; }

QueryKeyValue fused_projection(BlockBuilder& block, const AttentionDescription& a, TensorId x) {
  std::vector<LinearOutput> outputs = {{"q", a.heads * a.qk_head_dim, a.heads},
                                       {"k", a.kv_heads * a.qk_head_dim, a.kv_heads},
                                       {"v", a.kv_heads * a.v_head_dim, a.kv_heads}};
  if (a.output_gate) outputs.push_back({"gate", a.heads * a.v_head_dim, a.heads});
  const std::vector<TensorId> qkv = ops::linear(block, "attention.qkv", x, outputs, column(a.qkv_bias));
  return {qkv[0], qkv[1], qkv[2], a.output_gate ? qkv[3] : TensorId()};
}

TensorId normalized_head(BlockBuilder& block, const AttentionDescription& a, OpKind norm, const std::string& name,
                         TensorId x) {
  return a.head_norm ? ops::head_norm(block, name, norm, x, a.qk_head_dim) : x;
}

TensorId latent_query(BlockBuilder& block, const AttentionDescription& a, TensorId x) {
  TensorId compressed = x;
  if (a.latent->query_rank > 0) {
    compressed = ops::linear(block, "attention.q_a", x, a.latent->query_rank, replicated(a.qkv_bias));
    compressed = ops::norm(block, "attention.q_a_norm", a.latent->norm, compressed);
  }
  return ops::linear(block, "attention.q_b", compressed, {{"q", a.heads * a.qk_head_dim, a.heads}}, column()).front();
}

/// The rotated part of the key is one head, given to all heads.
TensorId spread_over_heads(BlockBuilder& block, const AttentionDescription& a, TensorId rope_key) {
  Shape shape = block.tensor(rope_key).shape;
  shape.back() = fixed_dimension(a.heads * a.latent->rope_dim);
  return ops::select(block, "attention.k_rope_heads", rope_key, std::move(shape), Partition::tensor);
}

/// DeepSeek-V2, arXiv:2405.04434, section 2.1 and appendix C.
QueryKeyValue latent_projection(BlockBuilder& block, const AttentionDescription& a, TensorId x) {
  const LatentAttention& latent = *a.latent;
  const TensorId query = latent_query(block, a, x);
  const std::vector<TensorId> kv = ops::linear(
      block, "attention.kv_a", x, {{"latent", latent.kv_rank}, {"rope", latent.rope_dim}}, replicated(a.qkv_bias));
  const TensorId state = ops::norm(block, "attention.kv_a_norm", latent.norm, kv[0]);
  const std::vector<TensorId> wide =
      ops::linear(block, "attention.kv_b", state,
                  {{"k_nope", a.heads * latent.nope_dim, a.heads}, {"v", a.heads * a.v_head_dim, a.heads}}, column());
  const TensorId rope_key = ops::rotary(block, "attention.k_rotary", kv[1]);
  const TensorId key = ops::concatenate(block, "attention.k", {wide[0], spread_over_heads(block, a, rope_key)});
  return {ops::rotary(block, "attention.q_rotary", query), key, wide[1]};
}

QueryKeyValue plain_projection(BlockBuilder& block, const AttentionDescription& a, const LayerVariant& variant,
                               OpKind norm, TensorId x) {
  QueryKeyValue qkv = fused_projection(block, a, x);
  qkv.query = normalized_head(block, a, norm, "attention.q_norm", qkv.query);
  qkv.key = normalized_head(block, a, norm, "attention.k_norm", qkv.key);
  if (a.rotary && variant.rotary) {
    qkv.query = ops::rotary(block, "attention.q_rotary", qkv.query, a.rotary_magnitude);
    qkv.key = ops::rotary(block, "attention.k_rotary", qkv.key, a.rotary_magnitude);
  }
  return qkv;
}

TensorId core(BlockBuilder& block, const std::string& name, const AttentionDescription& a, std::int64_t window,
              const QueryKeyValue& qkv) {
  const AttentionAttributes attributes{a.heads, a.kv_heads, a.qk_head_dim, a.v_head_dim, a.causal, a.dropout, window};
  const TensorId y = ops::attention(block, name, qkv.query, qkv.key, qkv.value, attributes);
  if (a.sinks) block.add_parameter(name + ".sinks", {fixed_dimension(a.heads)}, Partition::tensor, a.heads);
  if (a.relative_bias_buckets > 0)
    block.add_parameter(name + ".relative_bias", {fixed_dimension(a.relative_bias_buckets), fixed_dimension(a.heads)},
                        Partition::tensor, a.heads);
  return y;
}

}  // namespace

TensorId attention_part(BlockBuilder& block, const AttentionDescription& a, const LayerVariant& variant, OpKind norm,
                        TensorId x) {
  const std::int64_t hidden = block.features(x);
  const QueryKeyValue qkv = a.latent ? latent_projection(block, a, x) : plain_projection(block, a, variant, norm, x);
  TensorId context = core(block, "attention.core", a, variant.window, qkv);
  if (qkv.gate.is_valid()) context = ops::gated_activation(block, "attention.gated", qkv.gate, context);
  return ops::linear(block, "attention.output", context, hidden, {WeightPartition::row, a.output_bias, false});
}

TensorId cross_attention_part(BlockBuilder& block, const AttentionDescription& a, TensorId x, TensorId memory) {
  const std::int64_t hidden = block.features(x);
  const TensorId query =
      ops::linear(block, "cross_attention.q", x, {{"q", a.heads * a.qk_head_dim, a.heads}}, column(a.qkv_bias)).front();
  const std::vector<TensorId> kv =
      ops::linear(block, "cross_attention.kv", memory,
                  {{"k", a.kv_heads * a.qk_head_dim, a.kv_heads}, {"v", a.kv_heads * a.v_head_dim, a.kv_heads}},
                  column(a.qkv_bias));
  const TensorId context = core(block, "cross_attention.core", a, 0, {query, kv[0], kv[1]});
  return ops::linear(block, "cross_attention.output", context, hidden, {WeightPartition::row, a.output_bias, false});
}

}  // namespace plumbline
