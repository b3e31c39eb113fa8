#include "models/builders/encoder_decoder.h"
#include "models/import/describe_transformer.h"
#include "models/import/other_importers.h"

namespace plumbline {
namespace {

// Defaults: configuration_t5.py.
LayerDescription describe_layer(ConfigReader& config) {
  LayerDescription layer;
  AttentionDescription& a = layer.attention;
  a.heads = a.kv_heads = config.integer({"num_heads", "num_attention_heads"}, 8, head_range);
  a.qk_head_dim = a.v_head_dim = config.integer({"d_kv", "head_dim"}, 64, width_range);
  a.causal = false;
  a.relative_bias_buckets = config.integer({"relative_attention_num_buckets"}, 32, width_range);
  a.dropout = layer.residual_dropout = layer.mlp.inner_dropout = config.is_positive({"dropout_rate"}, 0.1);
  layer.mlp.width = config.integer({"d_ff"}, 2048, width_range);
  layer.mlp.gated = config.text({"feed_forward_proj"}, "relu").starts_with("gated");
  return layer;
}

}  // namespace

ImportedGraph import_t5(ConfigReader& config, const std::string& name) {
  EncoderDecoderDescription d;
  d.vocabulary = config.integer({"vocab_size"}, 32128, vocabulary_range);
  d.hidden = config.integer({"d_model", "hidden_size"}, 512, width_range);
  d.encoder_layers = config.layer_count({"num_layers", "num_hidden_layers"}, 6, layer_range);
  d.decoder_layers = config.nullable_integer({"num_decoder_layers"}, d.encoder_layers, d.encoder_layers, layer_range);
  d.tied_head = config.boolean({"tie_word_embeddings"}, true);
  d.layer = describe_layer(config);
  d.dropout = d.layer.residual_dropout;
  const std::int64_t positions = config.integer({"n_positions"}, 512, vocabulary_range);
  return {encoder_decoder_model(name, d), positions, "the target is taken to be as long as the source"};
}

}  // namespace plumbline
