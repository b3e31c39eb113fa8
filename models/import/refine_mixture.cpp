// Mixtures of experts, and DeepSeek's latent attention.

#include <algorithm>

#include "core/base/errors.h"
#include "models/import/describe_transformer.h"
#include "models/import/layer_pattern.h"

namespace plumbline {
namespace {

constexpr Keys expert_keys = {"num_local_experts", "num_experts", "n_routed_experts"};
constexpr Keys chosen_keys = {"num_experts_per_tok"};

/// Reads how many experts there are and how many a token chooses.
MixtureDescription read_mixture(ConfigReader& config, std::int64_t experts, std::int64_t chosen, std::int64_t width) {
  MixtureDescription m;
  m.experts = config.integer(expert_keys, experts, expert_range);
  m.chosen = config.integer(chosen_keys, chosen, expert_range);
  m.width = width;
  if (m.chosen > m.experts)
    throw InputError({config.where(chosen_keys),
                      std::to_string(m.chosen) + " of " + std::to_string(m.experts) + " experts cannot be chosen",
                      "at most " + std::to_string(m.experts), std::to_string(m.experts)});
  return m;
}

/// Qwen's rule: modeling_qwen3_moe.py, Qwen3MoeDecoderLayer.
void mark_sparse_steps(ConfigReader& config, TransformerDescription& d) {
  const std::int64_t step = config.integer({"decoder_sparse_step"}, 1, layer_range);
  const auto dense =
      config.integers({"mlp_only_layers"}, {0, layer_range.largest}).value_or(std::vector<std::int64_t>{});
  mark_mixture_layers(d, [&](std::int64_t i) {
    return std::find(dense.begin(), dense.end(), i) == dense.end() && (i + 1) % step == 0;
  });
}

void mark_all_but_first(ConfigReader& config, std::int64_t when_absent, TransformerDescription& d) {
  const std::int64_t dense = config.integer({"first_k_dense_replace"}, when_absent, {0, layer_range.largest});
  mark_mixture_layers(d, [&](std::int64_t i) { return i >= dense; });
}

void read_shared_experts(ConfigReader& config, std::int64_t when_absent, MixtureDescription& m) {
  m.shared_width = m.width * config.integer({"n_shared_experts"}, when_absent, {0, expert_range.largest});
}

void read_latent_attention(ConfigReader& config, AttentionDescription& a) {
  LatentAttention latent;
  latent.query_rank = config.nullable_integer({"q_lora_rank"}, 1536, 0, width_range);
  latent.kv_rank = config.integer({"kv_lora_rank"}, 512, width_range);
  latent.nope_dim = config.integer({"qk_nope_head_dim"}, 128, width_range);
  latent.rope_dim = config.integer({"qk_rope_head_dim"}, 64, width_range);
  a.v_head_dim = config.integer({"v_head_dim"}, 128, width_range);
  a.qk_head_dim = latent.nope_dim + latent.rope_dim;
  a.kv_heads = a.heads;  // keys and values are expanded for every head
  a.latent = latent;
}

/// Trained where the config says so in our own word; the class of the checkpoint leaves them out.
void read_prediction_layers(ConfigReader& config, std::int64_t when_absent, TransformerDescription& d) {
  const std::int64_t extra =
      config.integer({"num_nextn_predict_layers", "num_mtp_layers"}, when_absent, {0, layer_range.largest});
  if (extra > 0 && config.boolean({"train_nextn_predict_layers"}, false))
    d.prediction_layers = extra;
  else if (extra > 0)
    d.note = "without the multi-token-prediction layers (" + std::to_string(extra) + ") that the config states";
}

}  // namespace

void read_gated_mixture(ConfigReader& config, const MixtureDefaults& when_absent, TransformerDescription& d) {
  d.layer.mixture = read_mixture(config, when_absent.experts, when_absent.chosen,
                                 config.integer({"moe_intermediate_size"}, when_absent.width, width_range));
  d.layer.mixture->shared_width =
      config.integer({"shared_expert_intermediate_size"}, when_absent.shared_width, width_range);
  d.layer.mixture->shared_gate = true;
  mark_sparse_steps(config, d);
}

void refine_mixtral(ConfigReader& config, const Architecture& row, TransformerDescription& d) {
  refine_mistral(config, row, d);
  d.layer.mixture = read_mixture(config, 8, 2, d.layer.mlp.width);
  mark_mixture_layers(d, [](std::int64_t) { return true; });
}

void refine_qwen2_moe(ConfigReader& config, const Architecture& row, TransformerDescription& d) {
  refine_qwen2(config, row, d);
  read_gated_mixture(config, {60, 4, 1408, 5632}, d);
}

void refine_qwen3_moe(ConfigReader& config, const Architecture& row, TransformerDescription& d) {
  refine_qwen3(config, row, d);
  d.layer.mixture = read_mixture(config, 128, 8, config.integer({"moe_intermediate_size"}, 768, width_range));
  mark_sparse_steps(config, d);
}

void refine_deepseek_v2(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  read_latent_attention(config, d.layer.attention);
  d.layer.mixture = read_mixture(config, 64, 6, config.integer({"moe_intermediate_size"}, 1407, width_range));
  read_shared_experts(config, 2, *d.layer.mixture);
  mark_all_but_first(config, 0, d);
}

void refine_deepseek_v3(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  read_latent_attention(config, d.layer.attention);
  d.layer.mixture = read_mixture(config, 256, 8, config.integer({"moe_intermediate_size"}, 2048, width_range));
  read_shared_experts(config, 1, *d.layer.mixture);
  mark_all_but_first(config, 3, d);
  read_prediction_layers(config, 1, d);
}

void refine_glm4_moe(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  d.layer.attention.head_norm = config.boolean({"use_qk_norm"}, false);
  d.layer.mixture = read_mixture(config, 128, 8, config.integer({"moe_intermediate_size"}, 1408, width_range));
  read_shared_experts(config, 1, *d.layer.mixture);
  mark_all_but_first(config, 1, d);
  read_prediction_layers(config, 0, d);
}

void refine_gpt_oss(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  d.layer.attention.sinks = true;
  d.layer.attention.rotary_magnitude = RotaryMagnitude::scaled;  // YaRN by a factor of 32
  d.layer.mixture = read_mixture(config, 128, 4, d.layer.mlp.width);
  d.layer.mixture->bias = Bias::yes;
  d.layer.mixture->limits = GateLimits::yes;  // of every checkpoint: GptOssExperts, modeling_gpt_oss.py
  mark_mixture_layers(d, [](std::int64_t) { return true; });
  apply_window_pattern(config, 2, config.nullable_integer({"sliding_window"}, 128, 0, vocabulary_range), d);
}

void refine_llama4(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  d.layer.mixture = read_mixture(config, 16, 1, d.layer.mlp.width);
  d.layer.mixture->shared_width = d.layer.mlp.width;
  d.layer.mlp.width = config.integer({"intermediate_size_mlp"}, 16384, width_range);
  const std::int64_t step = config.integer({"interleave_moe_layer_step"}, 1, layer_range);
  const auto listed = config.integers({"moe_layers"}, {0, layer_range.largest});
  mark_mixture_layers(d, [&](std::int64_t i) {
    return listed ? std::find(listed->begin(), listed->end(), i) != listed->end() : (i + 1) % step == 0;
  });
  const std::int64_t period = config.integer({"no_rope_layer_interval"}, 4, layer_range);
  apply_window_pattern(config, period, config.nullable_integer({"attention_chunk_size"}, 8192, 0, vocabulary_range), d);
  mark_unrotated_layers(config, period, d);
  d.note =
      "chunked attention is described as a window of the chunk's size; the query and key norm without parameters "
      "is left out";
}

}  // namespace plumbline
