// Sliding windows: Mistral's in every layer, Gemma's and Qwen's in some.

#include "core/base/errors.h"
#include "models/import/describe_transformer.h"
#include "models/import/layer_pattern.h"

namespace plumbline {
namespace {

constexpr Keys window_keys = {"sliding_window"};

/// True for names of layer_types that do not see every earlier token.
bool is_windowed(const JsonPlace& place) {
  const std::string& type = place.string();
  if (type == "full_attention") return false;
  if (type == "sliding_attention" || type == "chunked_attention") return true;
  throw InputError({place.where(), "unknown layer type \"" + type + "\"",
                    "full_attention, sliding_attention or chunked_attention",
                    nearest_text(type, {"full_attention", "sliding_attention", "chunked_attention"})});
}

}  // namespace

void require_every_layer(const JsonPlace& place, std::size_t entries, const TransformerDescription& d) {
  if (entries != d.layers.size())
    throw InputError({place.where(), "names " + std::to_string(entries) + " layers",
                      "one entry for each of the " + std::to_string(d.layers.size()) + " layers", ""});
}

void apply_window_pattern(ConfigReader& config, std::int64_t period, std::int64_t window, TransformerDescription& d) {
  const auto types = config.find({"layer_types"});
  if (!types || types->value().is_null()) {
    for (std::size_t i = 0; i < d.layers.size(); ++i)
      if ((static_cast<std::int64_t>(i) + 1) % period != 0) d.layers[i].window = window;
    return;
  }
  const std::vector<JsonPlace> places = types->elements();
  require_every_layer(*types, places.size(), d);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (is_windowed(places[i])) d.layers[i].window = window;
}

void mark_unrotated_layers(ConfigReader& config, std::int64_t period, TransformerDescription& d) {
  const auto rotated = config.integers({"no_rope_layers"}, {0, 1});  // 1 means "with rotation", against its name
  if (rotated && !rotated->empty() && rotated->size() != d.layers.size())
    throw InputError({config.where({"no_rope_layers"}), "names " + std::to_string(rotated->size()) + " layers",
                      "one entry for each of the " + std::to_string(d.layers.size()) + " layers", ""});
  for (std::size_t i = 0; i < d.layers.size(); ++i)
    d.layers[i].rotary =
        rotated && !rotated->empty() ? (*rotated)[i] == 1 : (static_cast<std::int64_t>(i) + 1) % period != 0;
}

void refine_mistral(ConfigReader& config, const Architecture& row, TransformerDescription& d) {
  const std::int64_t when_absent = row.model_type == "mistral" ? 4096 : 0;
  const std::int64_t window = config.nullable_integer(window_keys, when_absent, 0, vocabulary_range);
  for (LayerVariant& layer : d.layers) layer.window = window;
}

void refine_qwen2(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  const std::int64_t window = config.nullable_integer(window_keys, 4096, 0, vocabulary_range);
  const std::int64_t first = config.integer({"max_window_layers"}, 28, {0, layer_range.largest});
  if (!config.boolean({"use_sliding_window"}, false)) return;
  for (std::size_t i = static_cast<std::size_t>(first); i < d.layers.size(); ++i) d.layers[i].window = window;
}

void refine_qwen3(ConfigReader& config, const Architecture& row, TransformerDescription& d) {
  d.layer.attention.head_norm = true;
  refine_qwen2(config, row, d);
}

void refine_gemma2(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  apply_window_pattern(config, 2, config.nullable_integer(window_keys, 4096, 0, vocabulary_range), d);
}

void refine_gemma3(ConfigReader& config, const Architecture&, TransformerDescription& d) {
  d.layer.attention.head_norm = true;
  const std::int64_t period =
      config.integer({"sliding_window_pattern", "_sliding_window_pattern"}, 6, {1, layer_range.largest});
  apply_window_pattern(config, period, config.nullable_integer(window_keys, 4096, 0, vocabulary_range), d);
}

}  // namespace plumbline
