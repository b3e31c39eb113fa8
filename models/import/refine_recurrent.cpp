// Layers that carry a state from token to token in place of attention: Qwen3-Next's.

#include "core/base/errors.h"
#include "models/import/describe_transformer.h"
#include "models/import/layer_pattern.h"

namespace plumbline {
namespace {

/// configuration_qwen3_next.py: the defaults of absent keys.
DeltaNetDescription read_delta_net(ConfigReader& config) {
  constexpr Keys value_head_keys = {"linear_num_value_heads"};
  constexpr Keys key_head_keys = {"linear_num_key_heads"};
  DeltaNetDescription net;
  net.key_heads = config.integer(key_head_keys, 16, head_range);
  net.value_heads = config.integer(value_head_keys, 32, head_range);
  net.key_head_dim = config.integer({"linear_key_head_dim"}, 128, width_range);
  net.value_head_dim = config.integer({"linear_value_head_dim"}, 128, width_range);
  net.convolution = config.integer({"linear_conv_kernel_dim"}, 4, width_range);
  require_multiple(config.where(value_head_keys), net.value_heads, net.key_heads, key_head_keys.usual());
  return net;
}

bool is_linear(const JsonPlace& place) {
  const std::string& type = place.string();
  if (type == "full_attention") return false;
  if (type == "linear_attention") return true;
  throw InputError({place.where(), "unknown layer type \"" + type + "\"", "full_attention or linear_attention",
                    nearest_text(type, {"full_attention", "linear_attention"})});
}

/// The layers that `layer_types` calls linear; absent: each but every full_attention_interval-th.
void mark_delta_nets(ConfigReader& config, TransformerDescription& d) {
  const std::int64_t period = config.integer({"full_attention_interval"}, 4, layer_range);
  const auto types = config.find({"layer_types"});
  if (!types || types->value().is_null()) {
    for (std::size_t i = 0; i < d.layers.size(); ++i)
      d.layers[i].delta_net = (static_cast<std::int64_t>(i) + 1) % period != 0;
    return;
  }
  const std::vector<JsonPlace> places = types->elements();
  require_every_layer(*types, places.size(), d);
  for (std::size_t i = 0; i < places.size(); ++i) d.layers[i].delta_net = is_linear(places[i]);
}

}  // namespace

void refine_qwen3_next(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  d.layer.attention.head_norm = true;
  d.layer.attention.output_gate = true;
  d.layer.delta_net = read_delta_net(config);
  mark_delta_nets(config, d);
  read_gated_mixture(config, {512, 10, 512, 512}, d);
}

}  // namespace plumbline
