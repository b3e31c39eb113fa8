#include "planner/frameworks/pytorch/network.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "core/base/errors.h"
#include "core/graph/rotary_features.h"
#include "models/builders/language_model.h"
#include "models/import/hugging_face.h"
#include "models/network_catalog.h"
#include "models/network_config.h"
#include "models/published_tensors.h"
#include "planner/frameworks/launch/network_layers.h"

namespace plumbline::pytorch {
namespace {

/// The plan's config; null where the plan names a network that is not known here, or one without a config.
Json config_of(const LaunchSettings& s) {
  if (!s.network_config.is_null()) return s.network_config;
  try {
    const std::string text = s.model.empty() ? "" : network_config(find_network(s.model), s.model);
    return text.empty() ? Json() : parse_json(text, s.model);
  } catch (const InputError&) {
    return {};
  }
}

std::optional<DescribedTransformer> described(const Json& config) {
  if (config.if_object() == nullptr) return std::nullopt;
  try {
    return described_transformer(JsonPlace(config, "network"));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// What the script's decoder does not have, as a noun; empty: nothing.
std::string beyond_attention(const AttentionDescription& a) {
  if (a.latent) return "latent attention";
  if (a.output_gate || a.sinks || a.relative_bias_buckets > 0) return "attention with parameters of its own";
  if (!a.causal) return "attention to later tokens";
  if (a.qk_head_dim != a.v_head_dim) return "keys of another width than values";
  return a.rotary && a.rotary_magnitude != RotaryMagnitude::kept ? "rotary positions that scale" : "";
}
std::string beyond_layers(const TransformerDescription& d) {
  if (d.layer.wiring != LayerWiring::pre_norm) return "layers whose parts are joined otherwise than x + part(norm(x))";
  if (d.layer.mlp.inner_dropout) return "dropout inside of the MLP";
  for (const LayerVariant& variant : d.layers) {
    if (variant.delta_net) return "a state in place of attention";
    if (d.layer.attention.rotary && !variant.rotary) return "layers without positions";
  }
  const auto& m = d.layer.mixture;
  if (m && m->shared_width > 0) return "shared experts";
  if (m && (m->bias == Bias::yes || m->limits == GateLimits::yes || m->gated != d.layer.mlp.gated))
    return "experts with biases or limits";
  return "";
}
std::string beyond_ends(const TransformerDescription& d) {
  if (d.embedding_width != d.hidden) return "an embedding of another width";
  if (d.embedding_norm || d.token_types > 0 || d.pooler || !d.final_norm) return "ends of an encoder";
  return d.prediction_layers > 0 ? "multi-token prediction" : "";
}

std::string beyond(const DescribedTransformer& network, const LaunchSettings& s) {
  if (!network.constants.not_executed.empty()) return network.constants.not_executed.front().what;
  const TransformerDescription& d = network.description;
  for (const std::string& what : {beyond_attention(d.layer.attention), beyond_layers(d), beyond_ends(d)})
    if (!what.empty()) return "the script has no " + what;
  const std::int64_t rows = d.learned_positions - network.constants.first_position;
  if (d.learned_positions > 0 && s.sequence_length.value_or(0) > rows)
    return "it has " + std::to_string(rows) + " learned positions for " + std::to_string(*s.sequence_length) +
           " tokens";
  return "";
}

Json rotary_json(const RotaryConstants& r, std::int64_t head_width) {
  const char* const scaling = r.scaling == RotaryScaling::linear   ? "linear"
                              : r.scaling == RotaryScaling::llama3 ? "llama3"
                                                                   : "none";
  Json::Object rotary{{"base", r.base}, {"features", rotary_features(r, head_width) / 2 * 2}, {"scaling", scaling}};
  if (r.scaling != RotaryScaling::none) rotary.emplace_back("factor", r.factor);
  if (r.scaling == RotaryScaling::llama3) {
    rotary.emplace_back("low_frequency_turns", r.low_frequency_turns);
    rotary.emplace_back("high_frequency_turns", r.high_frequency_turns);
    rotary.emplace_back("original_positions", r.original_positions);
  }
  return Json(std::move(rotary));
}

Json mixture_json(const TransformerDescription& d, ExpertWeights weights) {
  if (!d.layer.mixture) return {};
  Json::Array dense;
  for (std::size_t i = 0; i < d.layers.size(); ++i)
    if (!d.layers[i].mixture) dense.emplace_back(static_cast<std::int64_t>(i));
  return Json::Object{{"count", d.layer.mixture->experts},
                      {"chosen", d.layer.mixture->chosen},
                      {"width", d.layer.mixture->width},
                      {"normalises_weights", weights == ExpertWeights::normalised},
                      {"dense_layers", std::move(dense)}};
}

/// Tokens that a query of each layer sees; empty: all of them in every layer.
Json windows_json(const TransformerDescription& d) {
  Json::Array windows;
  if (std::any_of(d.layers.begin(), d.layers.end(), [](const LayerVariant& v) { return v.window > 0; }))
    for (const LayerVariant& variant : d.layers) windows.emplace_back(variant.window);
  return Json(std::move(windows));
}

/// A float in the decimals that a config has: 1e-05, not 9.99999974737875e-06.
Json decimal(float value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return parse_json(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())), "a float");
}

std::string_view activation_name(Activation activation) {
  return activation == Activation::relu ? "relu" : activation == Activation::gelu_erf ? "gelu_erf" : "gelu_tanh";
}

Json network_json(const TransformerDescription& d, const OperatorConstants& c) {
  const AttentionDescription& a = d.layer.attention;
  return Json::Object{
      {"vocabulary", d.vocabulary},
      {"width", d.hidden},
      {"heads", a.heads},
      {"key_value_heads", a.kv_heads},
      {"head_width", a.qk_head_dim},
      {"mlp_width", d.layer.mlp.width},
      {"gated", d.layer.mlp.gated},
      {"activation", activation_name(c.activation)},
      {"norm", to_text(d.layer.norm)},
      {"norm_epsilon", decimal(c.norm_epsilon)},
      {"qkv_bias", a.qkv_bias == Bias::yes},
      {"output_bias", a.output_bias == Bias::yes},
      {"mlp_bias", d.layer.mlp.bias == Bias::yes},
      {"head_bias", d.head_bias == Bias::yes},
      {"head_norm", a.head_norm},
      {"tied", d.tied_head},
      {"rotary", a.rotary ? rotary_json(c.rotary, a.qk_head_dim) : Json()},
      {"positions", d.learned_positions},
      {"first_position", c.first_position},
      {"windows", windows_json(d)},
      {"experts", mixture_json(d, c.expert_weights)},
      {"dropout", Json::Object{{"embedding", d.embedding_dropout ? decimal(c.dropout.embedding) : Json(0.0)},
                               {"attention", a.dropout ? decimal(c.dropout.attention) : Json(0.0)},
                               {"residual", d.layer.residual_dropout ? decimal(c.dropout.residual) : Json(0.0)}}}};
}

/// Of each kind of block one, under the names of a parameter layout.
std::vector<WholeParameter> parameters_of_blocks(const Graph& graph) {
  std::vector<WholeParameter> parameters;
  std::int64_t layer = 0;
  for (const Block& block : graph.blocks()) {
    const std::string prefix = block.kind() == BlockKind::input    ? "input."
                               : block.kind() == BlockKind::output ? "output."
                                                                   : "layers." + std::to_string(layer++) + ".";
    for (const Tensor& tensor : block.tensors()) {
      if (tensor.role != TensorRole::parameter || tensor.tied) continue;
      WholeParameter p{prefix + tensor.name, {1, 1, 1}, static_cast<std::int32_t>(tensor.shape.size()), 0};
      check(p.dimensions >= 1 && p.dimensions <= 3, "parameters of a language model have one to three dimensions");
      for (std::int32_t i = 0; i < p.dimensions; ++i)
        p.shape.at(3 - tensor.shape.size() + static_cast<std::size_t>(i)) =
            tensor.shape[static_cast<std::size_t>(i)].factor;
      parameters.push_back(std::move(p));
    }
  }
  return parameters;
}

/// The first ".3." from `from` on becomes ".*.".
void replace_number(std::string& name, const std::string& number, const std::string& by) {
  const std::size_t found = name.find("." + number + ".");
  if (found != std::string::npos) name.replace(found + 1, number.size(), by);
}

/// Null: a parameter has no name of the Hub, or lies in pieces in a tensor.
Json published_json(const std::string& model_type, const Graph& graph) {
  const PublishedNetwork network = published_network(model_type, parameters_of_blocks(graph));
  if (!network.has_published_names) return {};
  Json::Object published;
  std::set<std::string> known;
  for (const PublishedTensor& tensor : network.tensors)
    for (const TensorPart& part : tensor.parts) {
      if (part.group_stride != 0) return {};
      if (part.expert > 0) continue;
      std::string own = part.parameter;
      std::string name = tensor.name;
      if (own.starts_with("layers.")) {
        const std::string layer = own.substr(7, own.find('.', 7) - 7);
        own.replace(7, layer.size(), "*");
        replace_number(name, layer, "*");
      }
      if (part.expert == 0) replace_number(name, "0", "#");
      if (known.insert(own).second)
        published.emplace_back(
            own, Json::Array{Json(name), Json(part.first / part.row_stride), Json(part.column_stride != 1)});
    }
  return Json(std::move(published));
}

/// As wide as the ranks need, and no wider.
Json stand_in_json(const LaunchSettings& s) {
  TransformerDescription d;
  const std::int64_t heads = std::max<std::int64_t>(4, s.tensor_parallel.value_or(1));
  d.vocabulary = 256;
  d.hidden = 16 * heads;
  d.layer.norm = OpKind::layer_norm;
  d.layer.attention.heads = d.layer.attention.kv_heads = heads;
  d.layer.attention.qk_head_dim = d.layer.attention.v_head_dim = 16;
  d.layer.attention.rotary = true;
  d.layer.mlp.width = 4 * d.hidden;
  return network_json(d, OperatorConstants{});
}

}  // namespace

ScriptNetwork script_network(const LaunchSettings& s) {
  const Json config = config_of(s);
  const std::optional<DescribedTransformer> network = described(config);
  ScriptNetwork written{stand_in_json(s), Json(Json::Object{}), "", ""};
  if (!network) {
    written.stand_in = config.is_null() ? "the plan's network is not known here"
                                        : "the plan's network is no decoder that predicts the next token";
    return written;
  }
  written.stand_in = beyond(*network, s);
  if (!written.stand_in.empty()) return written;
  Json published = published_json(network->model_type, language_model("network", network->description));
  if (published.is_null()) {
    written.stand_in = "names of the Hub are not known for every parameter of a " + network->model_type;
    return written;
  }
  return {network_json(network->description, network->constants), std::move(published), to_json_text(config, -1), ""};
}

std::optional<std::int64_t> layers_of_network(const LaunchSettings& s) {
  if (const auto network = described(config_of(s))) return std::ssize(network->description.layers);
  return known_layers(s);
}

std::string undivided_heads(const LaunchSettings& s) {
  const std::int64_t ranks = s.tensor_parallel.value_or(1);
  const auto network = described(config_of(s));
  if (!network || !beyond(*network, s).empty()) return "";
  const AttentionDescription& a = network->description.layer.attention;
  if (a.kv_heads % ranks == 0 && a.heads % ranks == 0) return "";
  return "train.py divides key-value heads over tensor-parallel ranks: " + std::to_string(a.kv_heads) + " heads for " +
         std::to_string(ranks) + " ranks";
}

}  // namespace plumbline::pytorch
