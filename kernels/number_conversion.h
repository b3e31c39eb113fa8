#pragma once
/// \file number_conversion.h: fp32 to and from the narrower formats, exactly, in arithmetic that compilers vectorise.
///
/// Model: round to nearest, ties to even; subnormals are kept, a NaN stays a (quiet) NaN of its sign. fp16 and bf16
/// overflow to infinity; the two fp8 formats saturate at their largest finite number, as training recipes want.
/// Source: IEEE 754-2019, section 4.3.1; Micikevicius et al., "FP8 formats for deep learning" (arXiv:2209.05433),
/// table 1 (e4m3: no infinities, one NaN pattern, largest 448; e5m2: IEEE-like, largest 57344).
/// Not modelled: stochastic rounding; signalling NaNs.
/// Checked against: tests/kernels/number_conversion_test.cpp: all patterns, and midpoints of all neighbours, exact.

#include <bit>
#include <cstdint>

namespace plumbline {

using Bf16Bits = std::uint16_t;
using Fp16Bits = std::uint16_t;
using Fp8Bits = std::uint8_t;

namespace conversion {
inline constexpr std::uint32_t sign_mask = 0x80000000U;
inline constexpr std::uint32_t magnitude_mask = 0x7fffffffU;
inline constexpr std::uint32_t infinity = 0x7f800000U;
inline constexpr std::uint32_t mantissa_mask = 0x007fffffU;

/// The bits of a finite magnitude rounded to nearest even at bit `dropped`.
constexpr std::uint32_t round_at(std::uint32_t magnitude, int dropped) {
  return magnitude + ((1U << (dropped - 1)) - 1U) + ((magnitude >> dropped) & 1U);
}

/// A small format's magnitude bits from fp32: `mantissa` bits after the point, exponents from 1 - `bias` up. No
/// overflow.
constexpr std::uint32_t narrow_magnitude(std::uint32_t magnitude, int mantissa, int bias) {
  const int dropped = 23 - mantissa;
  const auto rebias = static_cast<std::uint32_t>(127 - bias) << 23;
  const std::uint32_t normal = (round_at(magnitude, dropped) - rebias) >> dropped;
  // Below the smallest normal number the target's step is fixed: adding a number whose ulp is that step rounds to it.
  const auto magic = static_cast<std::uint32_t>(127 - bias + 1 + dropped) << 23;
  const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(magic);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - magic;
  const auto smallest_normal = static_cast<std::uint32_t>(127 - bias + 1) << 23;
  return magnitude < smallest_normal ? subnormal : normal;
}

/// fp32 of a small format's finite magnitude bits. Multiplication by the power of two is exact, subnormals included.
constexpr float widen_magnitude(std::uint32_t magnitude, int mantissa, int bias) {
  const auto factor = static_cast<std::uint32_t>(127 + 127 - bias) << 23;
  return std::bit_cast<float>(magnitude << (23 - mantissa)) * std::bit_cast<float>(factor);
}
}  // namespace conversion

constexpr float from_bf16(Bf16Bits value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

constexpr Bf16Bits to_bf16(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (word & conversion::magnitude_mask) > conversion::infinity;
  const std::uint32_t quiet = word | 0x00400000U;
  return static_cast<Bf16Bits>((is_nan ? quiet : conversion::round_at(word, 16)) >> 16);
}

constexpr float from_fp16(Fp16Bits value) {
  const std::uint32_t word = value;
  const std::uint32_t magnitude = word & 0x7fffU;
  const std::uint32_t special = conversion::infinity | (magnitude << 13);
  const auto finite = std::bit_cast<std::uint32_t>(conversion::widen_magnitude(magnitude, 10, 15));
  return std::bit_cast<float>((magnitude >= 0x7c00U ? special : finite) | ((word & 0x8000U) << 16));
}

constexpr Fp16Bits to_fp16(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = word & conversion::magnitude_mask;
  constexpr std::uint32_t overflow = 0x477ff000U;  // 65520: half a step above the largest fp16, 65504
  const std::uint32_t finite = conversion::narrow_magnitude(magnitude, 10, 15);
  const std::uint32_t quiet = 0x7e00U | ((magnitude & conversion::mantissa_mask) >> 13);
  const std::uint32_t result = magnitude > conversion::infinity ? quiet : (magnitude >= overflow ? 0x7c00U : finite);
  return static_cast<Fp16Bits>(result | ((word & conversion::sign_mask) >> 16));
}

constexpr float from_fp8_e4m3(Fp8Bits code) {
  const std::uint32_t magnitude = code & 0x7fU;
  const auto finite = std::bit_cast<std::uint32_t>(conversion::widen_magnitude(magnitude, 3, 7));
  const std::uint32_t sign = (code & 0x80U) << 24;
  return std::bit_cast<float>((magnitude == 0x7fU ? 0x7fc00000U : finite) | sign);
}

constexpr Fp8Bits to_fp8_e4m3(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = word & conversion::magnitude_mask;
  constexpr std::uint32_t largest = 0x43e00000U;  // 448
  const std::uint32_t kept = magnitude < largest ? magnitude : largest;
  const std::uint32_t finite = conversion::narrow_magnitude(kept, 3, 7);
  return static_cast<Fp8Bits>((magnitude > conversion::infinity ? 0x7fU : finite) | ((word >> 24) & 0x80U));
}

constexpr float from_fp8_e5m2(Fp8Bits code) { return from_fp16(static_cast<Fp16Bits>(code << 8)); }

constexpr Fp8Bits to_fp8_e5m2(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = word & conversion::magnitude_mask;
  constexpr std::uint32_t largest = 0x47600000U;  // 57344
  const std::uint32_t kept = magnitude < largest ? magnitude : largest;
  const std::uint32_t finite = conversion::narrow_magnitude(kept, 2, 15);
  return static_cast<Fp8Bits>((magnitude > conversion::infinity ? 0x7eU : finite) | ((word >> 24) & 0x80U));
}

/// fp32 with the ten mantissa bits that tensor cores multiply.
constexpr float round_to_tf32(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const bool is_special = (word & conversion::magnitude_mask) >= conversion::infinity;
  return is_special ? value : std::bit_cast<float>(conversion::round_at(word, 13) & ~0x1fffU);
}

}  // namespace plumbline
