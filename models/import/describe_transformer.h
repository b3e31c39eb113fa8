#pragma once
/// \file describe_transformer.h: a config and its architecture's row as a description.

#include "models/import/architecture.h"

namespace plumbline {

/// Reads the facts that all token networks share, then lets the row's refinement read its own.
/// Throws InputError naming the key for wrong types, absurd numbers and widths that do not divide.
[[nodiscard]] TransformerDescription describe_transformer(ConfigReader& config, const Architecture& row);

/// Every layer `variant`.
[[nodiscard]] std::vector<LayerVariant> equal_layers(std::size_t count, const LayerVariant& variant);
[[nodiscard]] constexpr Bias bias_if(bool present) { return present ? Bias::yes : Bias::no; }

}  // namespace plumbline
