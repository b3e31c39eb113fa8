#pragma once
/// \file weight_rounding.h: how an optimizer rounds weights that it keeps in 16 bits alone.
///
/// Source: kernels/stochastic_rounding.h. Checked against: tests/runtime/execution/weight_rounding_test.cpp.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/found_by_name.h"
#include "core/training/precision.h"

namespace plumbline {

enum class WeightRounding : std::uint8_t { nearest, stochastic };
inline constexpr std::array all_weight_roundings{WeightRounding::nearest, WeightRounding::stochastic};
[[nodiscard]] constexpr std::string_view to_text(WeightRounding rounding) {
  return rounding == WeightRounding::nearest ? "nearest" : "stochastic";
}
[[nodiscard]] constexpr std::optional<WeightRounding> weight_rounding_from_text(std::string_view text) {
  return value_named(all_weight_roundings, text);
}

/// Whether the weights that updates read are kept in 16 bits alone.
[[nodiscard]] constexpr bool rounds_weights(const PrecisionFormats& formats) {
  return !formats.master && (formats.weight == NumberFormat::bf16 || formats.weight == NumberFormat::fp16);
}

}  // namespace plumbline
