#pragma once
/// \file relu.h: the larger of x and 0. Backward needs the input only; the slope at 0 is 0, as PyTorch's.
///
/// Source: Nair and Hinton, ICML 2010, section 3. Checked against: tests/kernels/activation_test.cpp (PyTorch, exact).

#include "kernels/tensor_view.h"

namespace plumbline {

/// input, output [rows, columns]; output may be input.
struct ReluForward {
  ConstTensorView input;
  TensorView output;
};

/// All [rows, columns]; input_gradient is overwritten and may be output_gradient or input.
struct ReluBackward {
  ConstTensorView output_gradient;
  ConstTensorView input;
  TensorView input_gradient;
};

namespace reference {

void relu_forward(const ReluForward& args);
void relu_backward(const ReluBackward& args);

}  // namespace reference
}  // namespace plumbline
