#pragma once
/// \file gelu.h: x * Phi(x), exactly (erf) or by the tanh approximation that GPT-2 uses. Backward needs the input only.
///
/// Source: Hendrycks and Gimpel, arXiv:1606.08415, section 2.
/// Checked against: PyTorch (tests/kernels/activation_test.cpp), within 1e-6 of the largest element in fp32.

#include "kernels/tensor_view.h"

namespace plumbline {

enum class Gelu : std::uint8_t { erf, tanh };

/// input, output [rows, columns]; output may be input.
struct GeluForward {
  ConstTensorView input;
  TensorView output;
  Gelu form = Gelu::tanh;
};

/// All [rows, columns]; input_gradient is overwritten and may be output_gradient or input.
struct GeluBackward {
  ConstTensorView output_gradient;
  ConstTensorView input;
  TensorView input_gradient;
  Gelu form = Gelu::tanh;
};

namespace reference {

void gelu_forward(const GeluForward& args);
void gelu_backward(const GeluBackward& args);

}  // namespace reference
}  // namespace plumbline
