#pragma once
/// \file optimizer_rules.h: what an optimizer's step does to one element.
///
/// Model and source: kernels/optimizer_state.h, kernels/adamw.h. Checked against:
/// tests/kernels/cuda/optimizer_test.cpp.

#include "kernels/adamw.h"
#include "kernels/cuda/language.h"

namespace plumbline::cuda {

struct Element {
  float weight = 0;
  float gradient = 0;  ///< multiplied and clamped
  float first = 0;
  float second = 0;
};

/// Whether the step is taken; with its rate and its decision's factor.
__device__ __forceinline__ bool is_decided(OptimizedParameter& p) {
  if (p.rate_of_step != nullptr) p.learning_rate = *p.rate_of_step;
  if (p.decision == nullptr) return true;
  p.gradient_factor *= p.decision->factor;
  return p.decision->is_taken != 0;
}

/// As std::min(std::max(...)) on the CPU: what is no number stays so.
__device__ __forceinline__ float scaled_gradient(const OptimizedParameter& p, float gradient) {
  const float g = gradient * p.gradient_factor;
  const float above = g < -p.gradient_limit ? -p.gradient_limit : g;
  return p.gradient_limit < above ? p.gradient_limit : above;
}

/// What decay leaves of a weight. The product is rounded, as on the CPU: not one operation with the difference.
__device__ __forceinline__ float kept_share(const OptimizedParameter& p) {
  return 1.0F - __fmul_rn(p.learning_rate, p.weight_decay);
}

struct Adamw {
  static constexpr bool takes_gradients = true;
  float beta1;
  float beta2;
  float epsilon;
  std::int64_t step;  ///< where no decision counts it
  float keep = 1;     ///< 1 - learning rate * weight decay
  float rate = 0;     ///< learning rate over the first moment's correction
  float root = 0;     ///< 1 / root of the second moment's correction

  /// Once for a block, whose threads all call it: powers in double precision, as 1 - beta^t loses its digits in fp32
  /// when beta is near 1.
  __device__ void prepare(const OptimizedParameter& p) {
    __shared__ float of_block[2];
    if (threadIdx.x == 0) {
      const std::int64_t t = p.decision != nullptr ? p.decision->update : step;
      const double correction1 = 1.0 - power(static_cast<double>(beta1), t);
      const double correction2 = 1.0 - power(static_cast<double>(beta2), t);
      of_block[0] = static_cast<float>(static_cast<double>(p.learning_rate) / correction1);
      of_block[1] = static_cast<float>(1.0 / sqrt(correction2));
    }
    __syncthreads();
    keep = kept_share(p);
    rate = of_block[0];
    root = of_block[1];
  }
  __device__ void run(const OptimizedParameter&, Element& e) const {
    e.first = beta1 * e.first + (1.0F - beta1) * e.gradient;
    e.second = beta2 * e.second + (1.0F - beta2) * e.gradient * e.gradient;
    e.weight = e.weight * keep - rate * e.first / (sqrtf(e.second) * root + epsilon);
  }
};

}  // namespace plumbline::cuda
