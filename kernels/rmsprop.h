#pragma once
/// \file rmsprop.h: steps divided by the root of a running mean of squared gradients.
///
/// v = beta v + (1 - beta) g^2; w -= learning_rate * g / (sqrt(v) + epsilon), with g = factor * gradient +
/// weight_decay * w, and v = 0 before the first step. Source: Tieleman and Hinton, "Neural networks for machine
/// learning", lecture 6.5 (2012), in torch.optim.RMSprop's arrangement (beta is its alpha; decay inside of the
/// gradient). Not modelled: momentum, centring. Checked against: PyTorch (tests/kernels/optimizer_test.cpp), within
/// 1e-6 in fp32.

#include "kernels/optimizer_state.h"

namespace plumbline {

struct RmspropStep {
  OptimizedParameter parameter;
  TensorView mean_of_squares;
  float beta = 0.99F;
  float epsilon = 1e-8F;
};

namespace reference {

void rmsprop_step(const RmspropStep& args);

}  // namespace reference
}  // namespace plumbline
