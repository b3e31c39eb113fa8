#pragma once
/// \file linear_product.h: the passes of a linear layer as matrix products, without its bias gradient.
///
/// Shapes as in linear.h; the workspace is the layer's. Checked against: PyTorch through the kernels that use it
/// (tests/kernels/linear_test.cpp).

#include "kernels/linear.h"
#include "kernels/matmul.h"

namespace plumbline {

[[nodiscard]] inline Matmul product_of(const LinearForward& args) {
  return {.a = args.input,
          .b = args.weight,
          .c = args.output,
          .transpose_b = Transpose::yes,
          .bias = args.bias,
          .workspace = args.workspace};
}

[[nodiscard]] inline Matmul product_of(const LinearInputGradient& args) {
  return {.a = args.output_gradient,
          .b = args.weight,
          .c = args.input_gradient,
          .write = args.write,
          .workspace = args.workspace};
}

[[nodiscard]] inline Matmul product_of(const LinearWeightGradient& args) {
  return {.a = args.output_gradient,
          .b = args.input,
          .c = args.weight_gradient,
          .transpose_a = Transpose::yes,
          .write = args.write,
          .workspace = args.workspace};
}

}  // namespace plumbline
