#pragma once
/// \file elementary.h: exp, sine, cosine and the normal distribution as plain arithmetic, so that loops over them are
/// vectorised and give the same bits on every machine (a C library's differ from each other).
///
/// Model: argument reduction in two or three parts (Cody and Waite), then a polynomial. Source of the exp coefficients:
/// Taylor's series to the 7th power on |r| <= ln(2)/2, whose remainder (r^8/8!: 5e-9 at the ends) is well below an ulp;
/// of sine and cosine: Taylor's series in double precision on |r| <= pi/4, remainder below 1e-12; of the normal
/// distribution: see there.
/// Checked against: tests/kernels/elementary_test.cpp (double precision; exp within 2 ulp, sine and cosine 1 ulp of 1,
/// the normal distribution within 8 + x^2 / 2 half ulps).

#include <bit>
#include <cstdint>

namespace plumbline::reference {

/// e^x; 0 below -87.3 (where the result would be subnormal), infinity above 88.7, NaN stays NaN.
inline float exp_of(float x) {
  constexpr float log2_e = 1.44269504F;
  constexpr float ln2_high = 0.693359375F;  // 9 bits: its products with whole exponents are exact
  constexpr float ln2_low = -2.12194440e-4F;
  constexpr float to_nearest = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest whole number in the low bits
  const float shifted = x * log2_e + to_nearest;
  const float whole = shifted - to_nearest;
  const float r = (x - whole * ln2_high) - whole * ln2_low;
  float p = 1.0F / 5040.0F;
  p = p * r + 1.0F / 720.0F;
  p = p * r + 1.0F / 120.0F;
  p = p * r + 1.0F / 24.0F;
  p = p * r + 1.0F / 6.0F;
  p = p * r + 0.5F;
  p = p * (r * r) + r + 1.0F;
  // 2^whole in two factors, so that neither exponent leaves the format's range before the result does.
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(to_nearest);
  const std::uint32_t half = static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 1);
  const float factor = std::bit_cast<float>((half + 127U) << 23);
  const float other = std::bit_cast<float>((bits - half + 127U) << 23);
  const float result = p * factor * other;
  const float low = x < -87.3F ? 0.0F : result;
  return x > 88.7F ? std::bit_cast<float>(0x7f800000U) : low;
}

/// The normal distribution at x, and e^(-x^2 / 2), which its density is a multiple of.
struct NormalDistribution {
  float below = 0;
  float bell = 0;
};

/// Below -13.2 both are 0. Model: the tail below -|x| is bell * p(s) / (|x| + 3), s = (|x| - 3) / (|x| + 3).
/// Source of p: (|x| + 3) e^(x^2 / 2) erfc(|x| / sqrt(2)) / 2 in double precision, interpolated at the 11 Chebyshev
/// nodes of s for |x| in [0, 13.4]; relative remainder 1.2e-9.
inline NormalDistribution normal_distribution_of(float x) {
  const float z = x < 0.0F ? -x : x;
  const float bell = exp_of(-0.5F * z * z);
  const float inverse = 1.0F / (z + 3.0F);
  const float s = (z - 3.0F) * inverse;
  float p = 5.48870764e-05F;
  p = p * s + 0.000132302277F;
  p = p * s - 0.000244424821F;
  p = p * s - 0.00103338585F;
  p = p * s + 0.0010242576F;
  p = p * s + 0.00696952205F;
  p = p * s - 0.0104623516F;
  p = p * s - 0.0472627062F;
  p = p * s + 0.230017684F;
  p = p * s - 0.509331991F;
  p = p * s + 0.729083691F;
  const float tail = bell * (p * inverse);
  return {x < 0.0F ? tail : 1.0F - tail, bell};
}

struct SineCosine {
  float sine = 0;
  float cosine = 1;
};

/// Of an angle in radians, |angle| < 10^8 (positions of any sequence), reduced in double precision.
inline SineCosine sine_cosine_of(double angle) {
  constexpr double two_over_pi = 0.63661977236758134308;
  constexpr double half_pi_high = 1.5707963267341256;  // 33 bits: exact products with quarters below 2^20
  constexpr double half_pi_low = 6.0771005065061922e-11;
  constexpr double to_nearest = 6755399441055744.0;  // 1.5 * 2^52
  const double shifted = angle * two_over_pi + to_nearest;
  const double whole = shifted - to_nearest;
  const double r = (angle - whole * half_pi_high) - whole * half_pi_low;
  const double z = r * r;
  const double s = r + r * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 - z / 39916800))));
  const double c =
      1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 + z / 479001600)))));
  const std::uint64_t quarter = std::bit_cast<std::uint64_t>(shifted) & 3U;
  const double sine = (quarter & 1U) != 0 ? c : s;
  const double cosine = (quarter & 1U) != 0 ? s : c;
  return {static_cast<float>((quarter & 2U) != 0 ? -sine : sine),
          static_cast<float>(((quarter + 1U) & 2U) != 0 ? -cosine : cosine)};
}

}  // namespace plumbline::reference
