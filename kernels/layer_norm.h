#pragma once
/// \file layer_norm.h: y = (x - mean) / sqrt(variance + epsilon) * weight + bias, row by row (biased variance).
///
/// Saves two fp32 per row: the mean and 1 / sqrt(variance + epsilon). Source: Ba et al., arXiv:1607.06450, equation 4.
/// Checked against: PyTorch (tests/kernels/norm_test.cpp), within 1e-5 of the largest element in fp32.

#include "kernels/tensor_view.h"

namespace plumbline {

/// input, output [rows, columns]; weight, bias [1, columns], bias or nothing; mean, inverse_deviation [rows] fp32
/// (written). output may be input.
struct LayerNormForward {
  ConstTensorView input;
  ConstTensorView weight;
  ConstTensorView bias = {};
  TensorView output;
  float* mean = nullptr;
  float* inverse_deviation = nullptr;
  float epsilon = 1e-5F;
};

/// input_gradient [rows, columns], or nothing, is overwritten and may be output_gradient; weight_gradient and
/// bias_gradient [1, columns], or nothing, are overwritten or added to.
struct LayerNormBackward {
  ConstTensorView output_gradient;
  ConstTensorView input;
  ConstTensorView weight;
  const float* mean = nullptr;
  const float* inverse_deviation = nullptr;
  TensorView input_gradient = {};
  TensorView weight_gradient = {};
  TensorView bias_gradient = {};
  Write write = Write::accumulate;  ///< of the parameters' gradients
  Workspace workspace = {};
};

namespace reference {

void layer_norm_forward(const LayerNormForward& args);
/// No scratch.
[[nodiscard]] Bytes layer_norm_workspace(const LayerNormBackward& args);
void layer_norm_backward(const LayerNormBackward& args);

}  // namespace reference
}  // namespace plumbline
