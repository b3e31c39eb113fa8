#pragma once
/// \file adamw.h: Adam with decoupled weight decay and bias correction.
///
/// w *= 1 - learning_rate * weight_decay; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
/// w -= learning_rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon).
/// Source: Loshchilov and Hutter, arXiv:1711.05101, algorithm 2, with PyTorch's learning rate on the decay. Not
/// modelled: AMSGrad. Checked against: PyTorch (tests/kernels/optimizer_test.cpp), ten steps, within 1e-6 in fp32.

#include "kernels/optimizer_state.h"

namespace plumbline {

/// base^exponent by repeated squaring: the same bits on the CPU and on a GPU, whose pow() differ.
[[nodiscard]] constexpr double power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 != 0) result *= base;
  return result;
}

struct AdamwStep {
  OptimizedParameter parameter;
  TensorView first_moment;
  TensorView second_moment;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  std::int64_t step = 1;  ///< of this update, counted from 1, where no decision counts it
};

namespace reference {

void adamw_step(const AdamwStep& args);

}  // namespace reference
}  // namespace plumbline
