#pragma once
/// \file linear.h: y = x W^T + b, its input gradient and its weight gradient.
///
/// The two gradients are functions of their own, because zero-bubble schedules run them at different times. Tensor
/// parallelism passes slices of the weight: of its rows (column-parallel: x whole, y a slice) or columns
/// (row-parallel). Fused projections are one call per output on slices of the weight; Write::accumulate adds their
/// input gradients. Checked against: PyTorch (tests/kernels/linear_test.cpp), in fp32 within 1e-5 of the largest
/// element.

#include "kernels/tensor_view.h"

namespace plumbline {

/// input [tokens, in], weight [out, in], bias [1, out] or nothing, output [tokens, out]. Nothing aliases.
struct LinearForward {
  ConstTensorView input;
  ConstTensorView weight;
  ConstTensorView bias = {};
  TensorView output;
  Workspace workspace = {};
};

/// input_gradient [tokens, in] = or += output_gradient [tokens, out] weight [out, in]. Nothing aliases.
struct LinearInputGradient {
  ConstTensorView output_gradient;
  ConstTensorView weight;
  TensorView input_gradient;
  Write write = Write::overwrite;
  Workspace workspace = {};
};

/// weight_gradient [out, in] = or += output_gradient^T input; bias_gradient [1, out], if there, likewise the sum over
/// tokens, of `uncast_gradient` if that is there: output_gradient before a cast to fp8. Gradient buffers are fp32 or
/// 16-bit; the sum over a call's tokens is rounded once. Nothing aliases.
struct LinearWeightGradient {
  ConstTensorView input;
  ConstTensorView output_gradient;
  TensorView weight_gradient;
  TensorView bias_gradient = {};
  Write write = Write::accumulate;
  Workspace workspace = {};
  ConstTensorView uncast_gradient = {};
};

namespace reference {

[[nodiscard]] Bytes linear_workspace(const LinearForward& args);
[[nodiscard]] Bytes linear_workspace(const LinearInputGradient& args);
[[nodiscard]] Bytes linear_workspace(const LinearWeightGradient& args);
void linear_forward(const LinearForward& args);
void linear_input_gradient(const LinearInputGradient& args);
void linear_weight_gradient(const LinearWeightGradient& args);

}  // namespace reference
}  // namespace plumbline
