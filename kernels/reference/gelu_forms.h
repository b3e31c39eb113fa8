#pragma once
/// \file gelu_forms.h: GELU of one number and its slope, exactly and by the tanh approximation, for loops.
///
/// Source: Hendrycks and Gimpel, arXiv:1606.08415, section 2. Checked against: PyTorch
/// (tests/kernels/activation_test.cpp), within 1e-6 of the largest element.

#include <numbers>

#include "kernels/reference/elementary.h"

namespace plumbline::reference {

inline constexpr float gelu_root_2_over_pi = 0.7978845608028654F;
inline constexpr float gelu_cubic = 0.044715F;

// (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)), which keeps its digits where tanh(u) is near -1.
inline float half_one_plus_tanh(float u) { return 1.0F / (1.0F + exp_of(-2.0F * u)); }

inline float gelu_tanh(float x) { return x * half_one_plus_tanh(gelu_root_2_over_pi * (x + gelu_cubic * x * x * x)); }

inline float gelu_tanh_slope(float x) {
  const float s = half_one_plus_tanh(gelu_root_2_over_pi * (x + gelu_cubic * x * x * x));
  const float inner = gelu_root_2_over_pi * (1.0F + 3.0F * gelu_cubic * x * x);
  // Where s is 0 or 1 the slope's second term is 0, but x^3 may have overflowed.
  const float bend = s * (1.0F - s);
  return s + (bend == 0.0F ? 0.0F : 2.0F * x * bend * inner);
}

inline float gelu_erf(float x) { return x * normal_distribution_of(x).below; }

inline float gelu_erf_slope(float x) {
  constexpr float inverse_root_2_pi = std::numbers::inv_sqrtpi_v<float> * std::numbers::sqrt2_v<float> * 0.5F;
  const NormalDistribution at = normal_distribution_of(x);
  return at.below + x * (inverse_root_2_pi * at.bell);
}

}  // namespace plumbline::reference
