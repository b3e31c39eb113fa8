#pragma once
/// \file hugging_face.h: a Hugging Face `config.json` as a network.
///
/// Lenient: keys that do not matter here are ignored, an absent key means its architecture's default. Strict where
/// silence would mislead: an unknown model_type, a misspelt key, no number of layers, an absurd number, widths that do
/// not divide.
/// Source: huggingface/transformers 5.16, configuration_*.py and modeling_*.py.
/// Not modelled: buffers, multi-token prediction, quantized storage, the vision towers of multimodal configs.
/// Checked against: tests/reference/parameter_counts_test.cpp, exact.

#include <optional>
#include <string>
#include <vector>

#include "core/io/json.h"
#include "models/description/network.h"
#include "models/description/transformer_description.h"

namespace plumbline {

/// Whether a config must say how many layers there are. Every file that transformers writes does.
enum class LayerCount : std::uint8_t { stated, stated_or_default };

/// Throws InputError naming the key that is wrong, or, for an unknown model_type, the nearest ones and the keys found.
[[nodiscard]] Network import_hugging_face(const JsonPlace& config, std::string name,
                                          LayerCount layers = LayerCount::stated);
/// A token network before it is a graph: for those who write it anew in another language.
struct DescribedTransformer {
  std::string model_type;
  TransformerDescription description;
  OperatorConstants constants;
};
/// Nothing for images and encoder-decoders, which have descriptions of their own. Throws as import_hugging_face does,
/// but for near misses of keys.
[[nodiscard]] std::optional<DescribedTransformer> described_transformer(const JsonPlace& config);
/// Products of numbers that are each in range may still be absurd; everything downstream counts in 64 bits.
/// Throws InputError for more than 10^16 parameters.
void require_countable(const std::string& where, const Graph& graph);
/// Every model_type that is understood.
[[nodiscard]] std::vector<std::string> hugging_face_model_types();

}  // namespace plumbline
