#pragma once
/// \file number_format.h: the formats in which numbers are stored and multiplied.
///
/// Source: IEEE 754-2019 (fp16, fp32), the bfloat16 and TF32 definitions of the vendors' documentation,
/// and "FP8 formats for deep learning" (arXiv:2209.05433) for e4m3 and e5m2.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/quantity/quantity.h"

namespace plumbline {

enum class NumberFormat : std::uint8_t {
  fp64,
  fp32,
  tf32,
  fp16,
  bf16,
  fp8_e4m3,
  fp8_e5m2,
  fp4,
  int64,
  int32,
  int8,
  nf4
};

inline constexpr std::array all_number_formats{NumberFormat::fp64,     NumberFormat::fp32, NumberFormat::tf32,
                                               NumberFormat::fp16,     NumberFormat::bf16, NumberFormat::fp8_e4m3,
                                               NumberFormat::fp8_e5m2, NumberFormat::fp4,  NumberFormat::int64,
                                               NumberFormat::int32,    NumberFormat::int8, NumberFormat::nf4};

/// Storage of one number in bits (tf32 is stored as fp32).
[[nodiscard]] constexpr std::int64_t bits(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp64:
    case NumberFormat::int64: return 64;
    case NumberFormat::fp32:
    case NumberFormat::tf32:
    case NumberFormat::int32: return 32;
    case NumberFormat::fp16:
    case NumberFormat::bf16: return 16;
    case NumberFormat::fp8_e4m3:
    case NumberFormat::fp8_e5m2:
    case NumberFormat::int8: return 8;
    case NumberFormat::fp4:
    case NumberFormat::nf4: return 4;
  }
  return 0;
}

/// Whether operands of products are cast to this format from a wider one, with scales: fp8 and fp4.
[[nodiscard]] constexpr bool is_quantized(NumberFormat format) {
  return format == NumberFormat::fp8_e4m3 || format == NumberFormat::fp8_e5m2 || format == NumberFormat::fp4;
}

/// Storage of `count` numbers, rounded up to whole bytes.
[[nodiscard]] constexpr Bytes storage(std::int64_t count, NumberFormat format) {
  return Bytes((count * bits(format) + 7) / 8);
}

[[nodiscard]] std::string_view to_text(NumberFormat format);
[[nodiscard]] std::optional<NumberFormat> number_format_from_text(std::string_view text);

}  // namespace plumbline
