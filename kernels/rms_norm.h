#pragma once
/// \file rms_norm.h: y = x / sqrt(mean(x^2) + epsilon) * weight, row by row.
///
/// Saves one fp32 per row, 1 / sqrt(mean(x^2) + epsilon). Source: Zhang and Sennrich, arXiv:1910.07467, equation 4.
/// Checked against: PyTorch (tests/kernels/norm_test.cpp), within 1e-5 of the largest element in fp32.

#include "kernels/tensor_view.h"

namespace plumbline {

/// input, output [rows, columns], weight [1, columns], inverse_root [rows] fp32 (written). output may be input.
struct RmsNormForward {
  ConstTensorView input;
  ConstTensorView weight;
  TensorView output;
  float* inverse_root = nullptr;
  float epsilon = 1e-5F;
};

/// input_gradient [rows, columns], or nothing, is overwritten and may be output_gradient; weight_gradient [1, columns],
/// or nothing, is overwritten or added to.
struct RmsNormBackward {
  ConstTensorView output_gradient;
  ConstTensorView input;
  ConstTensorView weight;
  const float* inverse_root = nullptr;
  TensorView input_gradient = {};
  TensorView weight_gradient = {};
  Write write = Write::accumulate;  ///< of the weight's gradient
  Workspace workspace = {};
};

namespace reference {

void rms_norm_forward(const RmsNormForward& args);
/// No scratch.
[[nodiscard]] Bytes rms_norm_workspace(const RmsNormBackward& args);
void rms_norm_backward(const RmsNormBackward& args);

}  // namespace reference
}  // namespace plumbline
