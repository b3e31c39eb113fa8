#pragma once
/// \file networks.h: the networks that published formulas speak of, built from the letters that the formulas use.

#include "models/builders/language_model.h"

namespace plumbline {

enum class Dropout : bool { no, yes };

/// GPT as in Korthikanti et al., arXiv:2205.05198, section 4: pre-norm, biases, an MLP four times as wide as hidden.
struct GptShape {
  std::int64_t layers = 1;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;
  Dropout dropout = Dropout::no;
};
[[nodiscard]] inline Graph gpt(const GptShape& shape) {
  TransformerDescription d;
  d.vocabulary = shape.vocabulary;
  d.hidden = d.embedding_width = shape.hidden;
  d.learned_positions = shape.positions;
  d.tied_head = true;
  d.embedding_dropout = d.layer.residual_dropout = shape.dropout == Dropout::yes;
  d.layer.norm = OpKind::layer_norm;
  AttentionDescription& attention = d.layer.attention;
  attention.heads = attention.kv_heads = shape.heads;
  attention.qk_head_dim = attention.v_head_dim = shape.hidden / shape.heads;
  attention.qkv_bias = attention.output_bias = Bias::yes;
  attention.dropout = shape.dropout == Dropout::yes;
  d.layer.mlp = {4 * shape.hidden, false, Bias::yes, false};
  d.layers.resize(static_cast<std::size_t>(shape.layers));
  return language_model("gpt", d);
}

/// LLaMA, and with `experts` Mixtral: RMSNorm, grouped queries, rotary positions, a gated MLP.
struct LlamaShape {
  std::int64_t layers = 1;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t width = 0;  ///< of the MLP
  std::int64_t vocabulary = 0;
  std::int64_t experts = 0;
  std::int64_t chosen = 0;
  std::int64_t expert_width = 0;
  std::int64_t shared_width = 0;
  bool shared_gate = false;
  std::int64_t dense_layers = 0;  ///< leading layers without experts
  bool tied = false;
};
[[nodiscard]] inline Graph llama(const LlamaShape& shape) {
  TransformerDescription d;
  d.vocabulary = shape.vocabulary;
  d.hidden = d.embedding_width = shape.hidden;
  d.tied_head = shape.tied;
  d.layer.norm = OpKind::rms_norm;
  AttentionDescription& attention = d.layer.attention;
  attention.heads = shape.heads;
  attention.kv_heads = shape.kv_heads;
  attention.qk_head_dim = attention.v_head_dim = shape.head_dim;
  attention.rotary = true;
  d.layer.mlp = {shape.width, true, Bias::no, false};
  d.layers.resize(static_cast<std::size_t>(shape.layers));
  if (shape.experts > 0) {
    d.layer.mixture = MixtureDescription{shape.experts,      shape.chosen,      shape.expert_width,
                                         shape.shared_width, shape.shared_gate, Bias::no};
    for (std::size_t i = static_cast<std::size_t>(shape.dense_layers); i < d.layers.size(); ++i)
      d.layers[i].mixture = true;
  }
  return language_model("llama", d);
}

/// The first block of kind `layer`.
[[nodiscard]] inline const Block& first_layer(const Graph& graph) {
  for (const BlockRun& run : graph.runs())
    if (graph.block(run.block).kind() == BlockKind::layer) return graph.block(run.block);
  return graph.blocks().front();
}

}  // namespace plumbline
