// GPT-2 and its contemporaries: layer norms, plain MLPs, biases; they differ in positions, wiring and extras.

#include "models/import/describe_transformer.h"

namespace plumbline {

void refine_gpt2(ConfigReader&, const Architecture&, TransformerDescription& d) {
  d.learned_positions = d.default_sequence_length;
}

void refine_gpt_neox(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  if (config.boolean({"use_parallel_residual"}, true)) d.layer.wiring = LayerWiring::parallel_two_norms;
}

void refine_opt(ConfigReader& config, const Architecture& row, TransformerDescription& d) {
  // The first rows of the table are for padding (modeling_opt.py, OPTLearnedPositionalEmbedding).
  d.learned_positions = d.default_sequence_length + row.first_position;
  d.embedding_width = config.integer({"word_embed_proj_dim"}, d.hidden, width_range);
  const bool norm_first = config.boolean({"do_layer_norm_before"}, true);
  if (!norm_first) d.layer.wiring = LayerWiring::post_norm;
  d.final_norm = norm_first && !config.boolean({"_remove_final_layer_norm"}, false);
}

void refine_bloom(ConfigReader&, const Architecture&, TransformerDescription& d) {
  d.embedding_norm = true;
  d.layer.mlp.width = 4 * d.hidden;  // modeling_bloom.py, BloomMLP: no key changes it
}

void refine_falcon(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  AttentionDescription& a = d.layer.attention;
  const bool new_decoder = config.boolean({"new_decoder_architecture"}, false);
  const bool multi_query = config.boolean({"multi_query"}, true);
  const std::int64_t stated = config.integer({"num_kv_heads", "n_head_kv"}, a.heads, head_range);
  a.kv_heads = new_decoder ? stated : multi_query ? 1 : a.heads;
  require_multiple(config.where({"num_attention_heads", "n_head"}), a.heads, a.kv_heads, "num_kv_heads");
  a.rotary = !config.boolean({"alibi"}, false);
  const bool parallel = config.boolean({"parallel_attn"}, true) || new_decoder;
  const std::int64_t norms = config.integer({"num_ln_in_parallel_attn"}, new_decoder ? 2 : 1, {1, 2});
  d.layer.wiring = !parallel                  ? LayerWiring::pre_norm
                   : new_decoder && norms > 1 ? LayerWiring::parallel_two_norms
                                              : LayerWiring::parallel_shared_norm;
}

void refine_phi(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  d.head_bias = Bias::yes;
  d.layer.attention.head_norm = config.boolean({"qk_layernorm"}, false);
}

void refine_bert(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  d.learned_positions = d.default_sequence_length;
  d.token_types = config.integer({"type_vocab_size"}, 2, vocabulary_range);
  d.embedding_norm = true;
  d.final_norm = false;
  d.pooler = true;
  d.layer.attention.causal = false;
  d.note =
      "counted as BertModel (encoder and pooler); the loss projects to the vocabulary with the embedding's weight, "
      "which adds no parameter";
}

}  // namespace plumbline
