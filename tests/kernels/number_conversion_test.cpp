#include "kernels/number_conversion.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/catch.h"

namespace plumbline {
namespace {

/// A format as its definition says it: sign, exponent, mantissa, evaluated in double precision.
struct Definition {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< e4m3 has none, and only the pattern of all ones is a NaN
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

double value_of(const Definition& f, std::uint32_t code) {
  const std::uint32_t mantissa = code & ((1U << f.mantissa_bits) - 1U);
  const int exponent = static_cast<int>((code >> f.mantissa_bits) & ((1U << f.exponent_bits) - 1U));
  const double sign = ((code >> (f.mantissa_bits + f.exponent_bits)) & 1U) != 0 ? -1.0 : 1.0;
  const int all_ones = (1 << f.exponent_bits) - 1;
  const std::uint32_t all_mantissa = (1U << f.mantissa_bits) - 1U;
  if (exponent == all_ones && f.has_infinity)
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == all_ones && mantissa == all_mantissa) return std::numeric_limits<double>::quiet_NaN();
  const double step = std::ldexp(1.0, std::max(exponent, 1) - f.bias() - f.mantissa_bits);
  return sign * step * (mantissa + (exponent > 0 ? std::ldexp(1.0, f.mantissa_bits) : 0.0));
}

constexpr Definition bf16{8, 7, true};
constexpr Definition fp16{5, 10, true};
constexpr Definition e4m3{4, 3, false};
constexpr Definition e5m2{5, 2, true};

template <class From, class To>
void check_all_patterns(const Definition& f, std::uint32_t patterns, From from, To to) {
  for (std::uint32_t code = 0; code < patterns; ++code) {
    const double expected = value_of(f, code);
    const float got = from(code);
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(got));
      REQUIRE(std::isnan(value_of(f, to(got))));
      REQUIRE(std::signbit(from(to(got))) == std::signbit(got));
      continue;
    }
    REQUIRE(static_cast<double>(got) == expected);
    REQUIRE(std::signbit(got) == std::signbit(expected));
    if (std::isfinite(expected) || patterns > 256) REQUIRE(to(got) == code);
  }
}

/// Between neighbours a < b of a positive format: the midpoint goes to the even code, what is next to it to the nearer.
template <class To>
void check_midpoints(const Definition& f, std::uint32_t last_finite, To to) {
  for (std::uint32_t code = 0; code < last_finite; ++code) {
    const auto middle = static_cast<float>(0.5 * (value_of(f, code) + value_of(f, code + 1)));
    if (0.5 * (value_of(f, code) + value_of(f, code + 1)) != static_cast<double>(middle)) continue;  // below fp32
    REQUIRE(to(middle) == ((code & 1U) == 0 ? code : code + 1));
    REQUIRE(to(std::nextafter(middle, 0.0F)) == code);
    REQUIRE(to(std::nextafter(middle, std::numeric_limits<float>::infinity())) == code + 1);
  }
}

template <class To>
void check_random(const Definition& f, std::uint32_t last_finite, float largest, To to) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-30.0, std::log2(static_cast<double>(largest)));
  for (int i = 0; i < 20000; ++i) {
    const auto x = static_cast<float>(std::exp2(exponent(random)));
    std::uint32_t below = 0;
    for (std::uint32_t bit = 1U << 15; bit != 0; bit >>= 1)  // the largest code whose value is not above x
      if (below + bit <= last_finite && value_of(f, below + bit) <= static_cast<double>(x)) below += bit;
    const std::uint32_t above = std::min(below + 1, last_finite);
    const double down = static_cast<double>(x) - value_of(f, below);
    const double up = value_of(f, above) - static_cast<double>(x);
    const std::uint32_t expected = down < up || (down == up && (below & 1U) == 0) ? below : above;
    REQUIRE(to(x) == expected);
  }
}

const auto to_bf16_code = [](float x) { return std::uint32_t{to_bf16(x)}; };
const auto to_fp16_code = [](float x) { return std::uint32_t{to_fp16(x)}; };
const auto to_e4m3_code = [](float x) { return std::uint32_t{to_fp8_e4m3(x)}; };
const auto to_e5m2_code = [](float x) { return std::uint32_t{to_fp8_e5m2(x)}; };

TEST_CASE("All 65536 patterns of bf16 and fp16 and all 256 of fp8 have the values of their definitions") {
  check_all_patterns(
      bf16, 1U << 16, [](std::uint32_t c) { return from_bf16(static_cast<Bf16Bits>(c)); }, to_bf16_code);
  check_all_patterns(
      fp16, 1U << 16, [](std::uint32_t c) { return from_fp16(static_cast<Fp16Bits>(c)); }, to_fp16_code);
  check_all_patterns(
      e4m3, 256, [](std::uint32_t c) { return from_fp8_e4m3(static_cast<Fp8Bits>(c)); }, to_e4m3_code);
  check_all_patterns(
      e5m2, 256, [](std::uint32_t c) { return from_fp8_e5m2(static_cast<Fp8Bits>(c)); }, to_e5m2_code);
}

TEST_CASE("Midpoints between neighbours round to the even one, subnormals included") {
  check_midpoints(bf16, 0x7f7f, to_bf16_code);
  check_midpoints(fp16, 0x7bff, to_fp16_code);
  check_midpoints(e4m3, 0x7e, to_e4m3_code);
  check_midpoints(e5m2, 0x7b, to_e5m2_code);
}

TEST_CASE("Random numbers round to the nearest code") {
  check_random(bf16, 0x7f7f, 1e30F, to_bf16_code);
  check_random(fp16, 0x7bff, 65504.0F, to_fp16_code);
  check_random(e4m3, 0x7e, 448.0F, to_e4m3_code);
  check_random(e5m2, 0x7b, 57344.0F, to_e5m2_code);
}

TEST_CASE("16-bit formats overflow to infinity from half a step above the largest number, fp8 saturates") {
  CHECK(to_fp16(65519.0F) == 0x7bff);
  CHECK(to_fp16(65520.0F) == 0x7c00);
  CHECK(to_fp16(-1e30F) == 0xfc00);
  CHECK(to_bf16(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(from_fp8_e4m3(to_fp8_e4m3(1e9F)) == 448.0F);
  CHECK(from_fp8_e4m3(to_fp8_e4m3(-std::numeric_limits<float>::infinity())) == -448.0F);
  CHECK(from_fp8_e5m2(to_fp8_e5m2(std::numeric_limits<float>::infinity())) == 57344.0F);
}

TEST_CASE("tf32 keeps ten mantissa bits") {
  CHECK(round_to_tf32(1.0F + 0x1p-10F) == 1.0F + 0x1p-10F);
  CHECK(round_to_tf32(1.0F + 0x1p-11F) == 1.0F);
  CHECK(round_to_tf32(1.0F + 0x1.8p-10F) == 1.0F + 0x1p-9F);
  CHECK(std::isinf(round_to_tf32(std::numeric_limits<float>::infinity())));
}

}  // namespace
}  // namespace plumbline
