#include "models/import/describe_operators.h"

#include <algorithm>

namespace plumbline {
namespace {

constexpr Keys activation_keys = {"hidden_act", "activation_function", "hidden_activation", "activation"};

void note(OperatorConstants& c, std::string where, std::string what, std::string expected) {
  c.not_executed.push_back({std::move(where), std::move(what) + " is not executed", std::move(expected), ""});
}

struct NamedActivation {
  std::string_view name;
  Activation activation;
};
// activations.py: three ways to write the tanh form.
constexpr NamedActivation activations[] = {{"gelu", Activation::gelu_erf},
                                           {"gelu_new", Activation::gelu_tanh},
                                           {"gelu_fast", Activation::gelu_tanh},
                                           {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                           {"relu", Activation::relu}};

void read_activation(ConfigReader& config, const Architecture& row, OperatorConstants& c) {
  const std::string name = config.text(activation_keys, row.activation);
  if (row.gated) {
    if (name != "silu" && name != "swish") note(c, config.where(activation_keys), "a gate of " + name, "silu");
    return;
  }
  for (const NamedActivation& known : activations)
    if (known.name == name) {
      c.activation = known.activation;
      return;
    }
  note(c, config.where(activation_keys), "the activation " + name,
       "gelu, gelu_new, gelu_fast, gelu_pytorch_tanh or relu");
}

void read_dropout(ConfigReader& config, const Architecture& row, OperatorConstants& c) {
  const auto probability = [&](Keys keys, double when_absent) {
    const double p = config.number(keys, when_absent, {0.0, 1.0});
    if (p >= 1.0) note(c, config.where(keys), "dropout of everything", "a probability below 1");
    return static_cast<float>(p);
  };
  c.dropout.attention = probability(attention_dropout_keys, row.dropout.attention);
  c.dropout.residual = probability(residual_dropout_keys, row.dropout.residual);
  c.dropout.embedding = row.drops_embedding == EmbeddingDropout::as_residual
                            ? c.dropout.residual
                            : probability(embedding_dropout_keys, row.dropout.embedding);
  // modeling_falcon.py, FalconDecoderLayer: one dropout of both parts' sum, and none of fused attention's scores.
  if (row.model_type == "falcon" && std::max(c.dropout.attention, c.dropout.residual) > 0.0F)
    note(c, config.where(residual_dropout_keys), "Falcon's dropout", "probabilities of 0");
}

constexpr RealRange factors{1e-6, 1e6};

/// The scaling that `rotary`, an object of a config at `place`, asks for.
void read_scaling(ConfigReader& config, ConfigReader& rotary, const JsonPlace& place, OperatorConstants& c) {
  const std::string type = rotary.text({"rope_type", "type"}, rotary.find({"factor"}) ? "" : "default");
  RotaryConstants& r = c.rotary;
  if (type == "default") return;
  r.factor = rotary.number({"factor"}, 0.0, factors);
  const bool has_factor = r.factor > 0.0;
  if (type == "linear" && has_factor) {
    r.scaling = RotaryScaling::linear;
    return;
  }
  r.low_frequency_turns = rotary.number({"low_freq_factor"}, 0.0, factors);
  r.high_frequency_turns = rotary.number({"high_freq_factor"}, 0.0, factors);
  if (type == "llama3" && has_factor && r.low_frequency_turns > 0.0 && r.high_frequency_turns > r.low_frequency_turns) {
    // modeling_rope_utils.py, standardize_rope_params: alongside the object, in it, or all positions.
    constexpr RealRange positions{1, 1e9};
    const double all = config.number({"max_position_embeddings"}, r.original_positions, positions);
    const double own = rotary.number({"original_max_position_embeddings"}, all, positions);
    r.original_positions = config.number({"original_max_position_embeddings"}, own, positions);
    r.scaling = RotaryScaling::llama3;
    return;
  }
  const bool is_known = type == "linear" || type == "llama3";
  note(c, place.where(),
       is_known ? "rotary scaling of type " + type + " without its factors" : "rotary scaling of type \"" + type + "\"",
       is_known ? "factor, and for llama3 low_freq_factor below high_freq_factor" : "default, linear or llama3");
}

void read_rotary(ConfigReader& config, const Architecture& row, OperatorConstants& c) {
  constexpr RealRange bases{1.0, 1e12};
  constexpr RealRange parts{0.0, 1.0};
  RotaryConstants& r = c.rotary;
  r.base = config.number({"rope_theta", "rotary_emb_base"}, row.rotary_base, bases);
  r.rotated = config.number({"partial_rotary_factor", "rotary_pct"}, row.rotated, parts);
  const auto is_object = [](const std::optional<JsonPlace>& place) {
    return place && place->value().if_object() != nullptr;
  };
  // The first is transformers 4's word, which 5 prefers where both are there.
  auto place = config.find({"rope_scaling"});
  const auto newer = config.find({"rope_parameters"});
  if (!is_object(place)) place = newer;
  if (!is_object(place)) return;
  ConfigReader rotary(*place);
  for (const Json::Member& member : *place->value().if_object())
    if (member.second.if_object() != nullptr)
      return note(c, place->where(), "rotary positions that differ between layers", "one set of them");
  r.base = rotary.number({"rope_theta"}, r.base, bases);
  r.rotated = rotary.number({"partial_rotary_factor"}, r.rotated, parts);
  read_scaling(config, rotary, *place, c);
}

/// A key that changes what a network computes unless it has its plain value (or is null or absent).
struct OtherKey {
  std::string_view key;
  std::string_view plain;
  std::string_view meaning;
};
constexpr OtherKey other_keys[] = {
    {"alibi", "false", "ALiBi"},
    {"scale_attn_weights", "true", "attention without its scale"},
    {"scale_attn_by_inverse_layer_idx", "false", "attention scaled layer by layer"},
    {"attention_multiplier", "null", "attention with another scale"},
    {"query_pre_attn_scalar", "null", "attention with another scale"},
    {"attn_logit_softcapping", "null", "a soft cap of scores"},
    {"final_logit_softcapping", "null", "a soft cap of logits"},
    {"clip_qkv", "null", "clipping of queries, keys and values"},
    {"embedding_multiplier", "1", "a multiplier of embeddings"},
    {"residual_multiplier", "1", "a multiplier of residuals"},
    {"logits_scaling", "1", "a scale of logits"},
    {"logit_scale", "1", "a scale of logits"},
    {"add_cross_attention", "false", "cross-attention"},
    {"apply_residual_connection_post_layernorm", "false", "a residual from behind the norm"},
    {"layer_norm_elementwise_affine", "true", "norms without weights"},
    {"layerdrop", "0", "dropout of whole layers"},
    {"router_jitter_noise", "0", "noise in the router"},
    {"output_router_logits", "false", "a loss that balances the router"},
    {"scoring_func", "softmax", "routing by other scores"},
    {"n_group", "1", "routing by groups of experts"},
    {"routed_scaling_factor", "1", "a scale of routed experts"},
    {"swiglu_limit", "null", "a clamped gate"},
    {"num_nextn_predict_layers", "0", "multi-token prediction"},
    {"num_mtp_layers", "0", "multi-token prediction"},
};

bool is_plain(const Json& value, std::string_view plain) {
  if (value.is_null()) return true;
  if (const bool* flag = value.if_bool()) return plain == (*flag ? "true" : "false");
  if (const std::string* text = value.if_string()) return plain == *text;
  if (plain != "0" && plain != "1") return false;
  const double number = plain == "1" ? 1.0 : 0.0;
  if (const std::int64_t* whole = value.if_integer()) return static_cast<double>(*whole) == number;
  return value.if_double() != nullptr && *value.if_double() == number;
}

}  // namespace

OperatorConstants operator_constants(ConfigReader& config, const Architecture& row) {
  OperatorConstants c;
  if (!row.beyond.empty())
    note(c, config.where({"model_type"}), std::string(row.model_type) + " (" + std::string(row.beyond) + ")",
         "a network of docs/running.md, section \"What of a network is executed\"");
  read_dropout(config, row, c);
  read_activation(config, row, c);
  if (row.rotary) read_rotary(config, row, c);
  c.norm_epsilon = static_cast<float>(config.number(norm_epsilon_keys, row.norm_epsilon, {0.0, 1.0}));
  c.expert_weights = config.boolean({"norm_topk_prob"}, row.normalises_expert_weights) ? ExpertWeights::normalised
                                                                                       : ExpertWeights::probability;
  c.first_position = row.first_position;
  for (const OtherKey& other : other_keys)
    if (const auto found = config.find({other.key}); found && !is_plain(found->value(), other.plain))
      note(c, found->where(), std::string(other.meaning), std::string(other.key) + " " + std::string(other.plain));
  return c;
}

}  // namespace plumbline
