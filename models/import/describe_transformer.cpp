#include "models/import/describe_transformer.h"

#include "core/base/errors.h"
#include "models/import/describe_operators.h"

namespace plumbline {
namespace {

// Every spelling that an architecture of the table uses; none means two things in two of them.
constexpr Keys hidden_keys = {"hidden_size", "n_embd", "n_embed", "d_model"};
constexpr Keys layer_keys = {"num_hidden_layers", "n_layer", "num_layers", "n_layers"};
constexpr Keys head_keys = {"num_attention_heads", "n_head", "num_heads", "n_heads"};
constexpr Keys kv_head_keys = {"num_key_value_heads"};
constexpr Keys ffn_keys = {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"};
constexpr Keys position_keys = {"max_position_embeddings", "n_positions", "seq_length"};

bool has_bias(ConfigReader& config, const BiasRule& rule) {
  return rule.key.empty() ? rule.when_absent : config.boolean({rule.key}, rule.when_absent);
}

std::int64_t read_head_dim(ConfigReader& config, const Architecture& row, std::int64_t hidden, std::int64_t heads) {
  const std::int64_t stated = config.nullable_integer({"head_dim"}, row.head_dim, 0, width_range);
  if (stated > 0) return stated;
  require_multiple(config.where(hidden_keys), hidden, heads, head_keys.usual());
  return hidden / heads;
}

AttentionDescription describe_attention(ConfigReader& config, const Architecture& row, std::int64_t hidden) {
  AttentionDescription a;
  a.heads = config.integer(head_keys, row.heads, head_range);
  a.kv_heads = config.nullable_integer(kv_head_keys, row.kv_heads, 0, head_range);
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  require_multiple(config.where(head_keys), a.heads, a.kv_heads, kv_head_keys.usual());
  a.qk_head_dim = a.v_head_dim = read_head_dim(config, row, hidden, a.heads);
  const bool bias = has_bias(config, row.attention_bias);
  a.qkv_bias = bias_if(bias);
  a.output_bias = bias_if(bias && row.attention_bias.on_output);
  a.rotary = row.rotary;
  a.dropout = config.is_positive(attention_dropout_keys, row.dropout.attention);
  return a;
}

LayerDescription describe_layer(ConfigReader& config, const Architecture& row, std::int64_t hidden) {
  LayerDescription layer;
  layer.wiring = row.wiring;
  layer.norm = row.norm;
  layer.attention = describe_attention(config, row, hidden);
  layer.mlp.width = config.nullable_integer(ffn_keys, row.ffn, 0, width_range);
  if (layer.mlp.width == 0) layer.mlp.width = 4 * hidden;
  layer.mlp.gated = row.gated;
  layer.mlp.bias = bias_if(has_bias(config, row.mlp_bias));
  layer.residual_dropout = config.is_positive(residual_dropout_keys, row.dropout.residual);
  return layer;
}

}  // namespace

std::vector<LayerVariant> equal_layers(std::size_t count, const LayerVariant& variant) {
  return std::vector<LayerVariant>(count, variant);
}

TransformerDescription describe_transformer(ConfigReader& config, const Architecture& row) {
  TransformerDescription d;
  d.hidden = config.integer(hidden_keys, row.hidden, width_range);
  d.embedding_width = d.hidden;
  d.vocabulary = config.integer({"vocab_size"}, row.vocabulary, vocabulary_range);
  d.default_sequence_length = config.integer(position_keys, row.positions, vocabulary_range);
  d.tied_head = config.boolean({"tie_word_embeddings"}, row.tied);
  d.layer = describe_layer(config, row, d.hidden);
  d.embedding_dropout = row.drops_embedding == EmbeddingDropout::as_residual
                            ? d.layer.residual_dropout
                            : config.is_positive(embedding_dropout_keys, row.dropout.embedding);
  d.layers = equal_layers(static_cast<std::size_t>(config.layer_count(layer_keys, row.layers, layer_range)), {});
  if (row.refine != nullptr) row.refine(config, row, d);
  return d;
}

}  // namespace plumbline
