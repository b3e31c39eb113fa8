#pragma once
/// \file product_kernels.h: the matrix products of a device's table: through cuBLASLt, else by our own kernels.
///
/// Answers: kernels/matmul.h and kernels/linear.h on the thread's current stream, and their scratch. Model: what
/// cuBLASLt has goes there; what it has not (sizes of fp8 that are no multiples of 16, operands of two formats), and
/// everything where it was not found, goes to kernels/cuda. fp8 operands whose inner dimension lies down columns are
/// turned in the scratch first. A bias's gradient is an epilogue of the product where it overwrites, else a kernel.
/// Experts' products have counts that the device alone knows: they are always ours. Checked against:
/// tests/cuda/product_kernels_test.cpp.

#include "kernels/linear.h"
#include "kernels/matmul.h"

namespace plumbline::library {

[[nodiscard]] Bytes matmul_workspace(const Matmul& args);
[[nodiscard]] Bytes linear_workspace(const LinearForward& args);
[[nodiscard]] Bytes linear_workspace(const LinearWeightGradient& args);
void matmul(const Matmul& args);
void linear_forward(const LinearForward& args);
void linear_weight_gradient(const LinearWeightGradient& args);

}  // namespace plumbline::library
