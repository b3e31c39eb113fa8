#pragma once
/// \file sgd.h: stochastic gradient descent, with momentum if there is a state for it.
///
/// g = factor * gradient + weight_decay * w; v = momentum * v + g; w -= learning_rate * v (PyTorch's form: the learning
/// rate is outside the momentum, weight decay inside the gradient). The first step starts from v = 0.
/// Source: Sutskever et al., ICML 2013, section 2, in torch.optim.SGD's arrangement. Not modelled: dampening, Nesterov.
/// Checked against: PyTorch (tests/kernels/optimizer_test.cpp), within 1e-6 in fp32.

#include "kernels/optimizer_state.h"

namespace plumbline {

struct SgdStep {
  OptimizedParameter parameter;
  TensorView velocity = {};
  float momentum = 0;
};

namespace reference {

void sgd_step(const SgdStep& args);

}  // namespace reference
}  // namespace plumbline
