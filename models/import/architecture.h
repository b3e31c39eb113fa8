#pragma once
/// \file architecture.h: what a Hugging Face `model_type` means: defaults of absent keys and fixed facts, one row each.
///
/// `save_pretrained` writes only what differs from the class's defaults, so an absent key means *that architecture's*
/// default. Source of the rows: configuration_<type>.py and modeling_<type>.py of huggingface/transformers 5.16.

#include <span>
#include <string_view>

#include "models/description/transformer_description.h"
#include "models/import/config_reader.h"

namespace plumbline {

/// A bias that a key may turn on or off. No key: always as `when_absent`.
struct BiasRule {
  std::string_view key;
  bool when_absent = false;
  bool on_output = true;  ///< attention: whether the output projection follows the key, or has none
};

struct DropoutDefaults {
  double attention = 0.0;
  double residual = 0.0;
  double embedding = 0.0;
};

/// Whether dropout behind the embedding has a probability of its own, or that of the layers (BERT, GPT-NeoX).
enum class EmbeddingDropout : std::uint8_t { own, as_residual };

struct Architecture;
/// What a row cannot say: reads the keys that only this architecture has.
using Refine = void (*)(ConfigReader& config, const Architecture& row, TransformerDescription& description);

/// A token network. Widths of 0 follow from others: ffn 4 * hidden, kv_heads heads, head_dim hidden / heads.
struct Architecture {
  std::string_view model_type;
  std::string_view class_prefix;  ///< of `architectures[0]`, for files without a model_type
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t positions = 0;
  bool tied = false;
  OpKind norm = LayerDescription{}.norm;
  LayerWiring wiring = LayerWiring::pre_norm;
  bool gated = true;
  bool rotary = true;
  BiasRule attention_bias = {"attention_bias", false, true};
  BiasRule mlp_bias = {"", false, true};
  DropoutDefaults dropout = {};
  EmbeddingDropout drops_embedding = EmbeddingDropout::own;
  double norm_epsilon = 1e-6;
  double rotary_base = 10'000;
  double rotated = 1.0;                  ///< part of a head's features that rotary positions turn
  std::string_view activation = "silu";  ///< of the gate, or of the MLP without one, as the config spells it
  bool normalises_expert_weights = true;
  std::int64_t first_position = 0;  ///< rows of the position table before that of the first token
  std::string_view beyond =
      {};  ///< what of it OperatorConstants and the operators of a Graph cannot say; empty: nothing
  Refine refine = nullptr;
};

/// Rows for everything that language_model() builds.
[[nodiscard]] std::span<const Architecture> architectures();

// Refinements, by the family that needs them.
void refine_gpt2(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_gpt_neox(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_opt(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_bloom(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_falcon(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_phi(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_bert(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_mistral(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_mixtral(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_qwen2(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_qwen3(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_qwen2_moe(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_qwen3_moe(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_qwen3_next(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_deepseek_v2(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_deepseek_v3(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_glm4_moe(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_gpt_oss(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_gemma2(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_gemma3(ConfigReader& config, const Architecture& row, TransformerDescription& description);
void refine_llama4(ConfigReader& config, const Architecture& row, TransformerDescription& description);

}  // namespace plumbline
