#pragma once
/// \file fp8_scaling.h: how many scales the operands of fp8 products have.
///
/// Model: one for a tensor (current scaling), or one for each row or column, whichever the product does not sum over.
/// Source: kernels/quantize.h. Checked against: tests/runtime/execution/fp8_test.cpp.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/found_by_name.h"

namespace plumbline {

enum class Fp8Scaling : std::uint8_t { tensor, row };
inline constexpr std::array all_fp8_scalings{Fp8Scaling::tensor, Fp8Scaling::row};
[[nodiscard]] constexpr std::string_view to_text(Fp8Scaling scaling) {
  return scaling == Fp8Scaling::tensor ? "tensor" : "row";
}
[[nodiscard]] constexpr std::optional<Fp8Scaling> fp8_scaling_from_text(std::string_view text) {
  return value_named(all_fp8_scalings, text);
}

}  // namespace plumbline
