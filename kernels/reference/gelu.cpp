#include "kernels/gelu.h"

#include <cmath>
#include <numbers>

#include "kernels/reference/elementary.h"
#include "kernels/reference/map.h"

namespace plumbline::reference {
namespace {

constexpr float root_2_over_pi = 0.7978845608028654F;
constexpr float cubic = 0.044715F;

// (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)), which keeps its digits where tanh(u) is near -1.
float half_one_plus_tanh(float u) { return 1.0F / (1.0F + exp_of(-2.0F * u)); }

float gelu_tanh(float x) { return x * half_one_plus_tanh(root_2_over_pi * (x + cubic * x * x * x)); }

float gelu_tanh_slope(float x) {
  const float s = half_one_plus_tanh(root_2_over_pi * (x + cubic * x * x * x));
  const float inner = root_2_over_pi * (1.0F + 3.0F * cubic * x * x);
  // Where s is 0 or 1 the slope's second term is 0, but x^3 may have overflowed.
  const float bend = s * (1.0F - s);
  return s + (bend == 0.0F ? 0.0F : 2.0F * x * bend * inner);
}

float normal_distribution(float x) { return 0.5F * std::erfc(-x * std::numbers::sqrt2_v<float> * 0.5F); }

float gelu_erf_slope(float x) {
  const float density = std::numbers::inv_sqrtpi_v<float> * std::numbers::sqrt2_v<float> * 0.5F * exp_of(-0.5F * x * x);
  return normal_distribution(x) + x * density;
}

}  // namespace

void gelu_forward(const GeluForward& args) {
  if (args.form == Gelu::tanh) return map(args.input, args.output, [](float x) { return gelu_tanh(x); });
  map(args.input, args.output, [](float x) { return x * normal_distribution(x); });
}

void gelu_backward(const GeluBackward& args) {
  if (args.form == Gelu::tanh)
    return map(args.output_gradient, args.input, args.input_gradient,
               [](float dy, float x) { return dy * gelu_tanh_slope(x); });
  map(args.output_gradient, args.input, args.input_gradient, [](float dy, float x) { return dy * gelu_erf_slope(x); });
}

}  // namespace plumbline::reference
