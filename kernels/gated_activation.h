#pragma once
/// \file gated_activation.h: silu(gate) * up, the middle of SwiGLU; silu(x) = x / (1 + exp(-x)). Backward needs both
/// inputs.
///
/// Source: Shazeer, arXiv:2002.05202, equation 6. Not modelled: gates of GELU (GeGLU) or ReLU.
/// Checked against: PyTorch (tests/kernels/activation_test.cpp), within 1e-6 of the largest element in fp32.

#include "kernels/tensor_view.h"

namespace plumbline {

/// All [rows, columns]; output may be gate or up.
struct SwigluForward {
  ConstTensorView gate;
  ConstTensorView up;
  TensorView output;
};

/// All [rows, columns]; the gradients are overwritten, each may be its own input (gate, up), one may be
/// output_gradient.
struct SwigluBackward {
  ConstTensorView output_gradient;
  ConstTensorView gate;
  ConstTensorView up;
  TensorView gate_gradient;
  TensorView up_gradient;
};

namespace reference {

void swiglu_forward(const SwigluForward& args);
void swiglu_backward(const SwigluBackward& args);

}  // namespace reference
}  // namespace plumbline
