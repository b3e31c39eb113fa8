#pragma once
/// \file lion.h: the sign of an interpolated momentum, with decoupled weight decay.
///
/// w -= learning_rate * (sign(b1 m + (1 - b1) g) + weight_decay * w); m = b2 m + (1 - b2) g.
/// Source: Chen et al., arXiv:2302.06675, algorithm 2.
/// Checked against: the same formulas in PyTorch (tests/kernels/optimizer_test.cpp), ten steps, within 1e-6 in fp32.

#include "kernels/optimizer_state.h"

namespace plumbline {

struct LionStep {
  OptimizedParameter parameter;
  TensorView momentum;
  float beta1 = 0.9F;
  float beta2 = 0.99F;
};

namespace reference {

void lion_step(const LionStep& args);

}  // namespace reference
}  // namespace plumbline
