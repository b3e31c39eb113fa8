#pragma once
/// \file adagrad.h: steps divided by the root of the sum of all squared gradients.
///
/// s = s + g^2; w -= learning_rate * g / (sqrt(s) + epsilon), with g = factor * gradient + weight_decay * w, and s = 0
/// before the first step. Source: Duchi, Hazan and Singer, JMLR 12 (2011), figure 1 with a diagonal matrix, in
/// torch.optim.Adagrad's arrangement (its epsilon, its decay inside of the gradient). Not modelled: a decay of the
/// learning rate, another first sum. Checked against: PyTorch (tests/kernels/optimizer_test.cpp), within 1e-6 in fp32.

#include "kernels/optimizer_state.h"

namespace plumbline {

struct AdagradStep {
  OptimizedParameter parameter;
  TensorView sum_of_squares;
  float epsilon = 1e-10F;
};

namespace reference {

void adagrad_step(const AdagradStep& args);

}  // namespace reference
}  // namespace plumbline
