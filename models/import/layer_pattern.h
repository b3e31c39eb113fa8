#pragma once
/// \file layer_pattern.h: which layers attend through a window and which hold experts.

#include "models/description/transformer_description.h"
#include "models/import/config_reader.h"

namespace plumbline {

/// Gives every layer that `layer_types` calls windowed (absent: each but every `period`-th) a window of `window`.
void apply_window_pattern(ConfigReader& config, std::int64_t period, std::int64_t window, TransformerDescription& d);
/// Takes the rotation from the layers that `no_rope_layers` lists as 0 (absent: every `period`-th).
void mark_unrotated_layers(ConfigReader& config, std::int64_t period, TransformerDescription& d);
/// Throws InputError unless a list at `place` has one entry for each layer.
void require_every_layer(const JsonPlace& place, std::size_t entries, const TransformerDescription& d);
/// Numbers of a mixture that a config leaves out.
struct MixtureDefaults {
  std::int64_t experts = 0;
  std::int64_t chosen = 0;
  std::int64_t width = 0;
  std::int64_t shared_width = 0;
};
/// Qwen's mixtures with a shared expert under a gate.
void read_gated_mixture(ConfigReader& config, const MixtureDefaults& when_absent, TransformerDescription& d);
/// Marks the layers for which `holds_experts(index)` is true.
template <class Predicate>
void mark_mixture_layers(TransformerDescription& d, Predicate holds_experts) {
  for (std::size_t i = 0; i < d.layers.size(); ++i) d.layers[i].mixture = holds_experts(static_cast<std::int64_t>(i));
}

}  // namespace plumbline
