#pragma once
/// \file matmul.h: products of matrices in any format, summed in fp32 and rounded once.
///
/// c = op(a) op(b) + bias, or c += ... Operands that are not fp32 are widened in panels of the workspace; the sum over
/// the inner dimension is never split between roundings.
/// Not modelled: the order in which tensor cores sum; only that the sum is kept in fp32.
/// Checked against: tests/kernels/matmul_test.cpp (double precision sums, error under inner * 2^-24 of the terms).

#include <cstdint>
#include <string_view>

#include "kernels/tensor_view.h"

namespace plumbline {

enum class Transpose : std::uint8_t { no, yes };

/// c [m, n], op(a) [m, k], op(b) [k, n] with op(x) x or its transpose. `bias` [1, n] or nothing. c aliases nothing.
struct Matmul {
  ConstTensorView a;
  ConstTensorView b;
  TensorView c;
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  ConstTensorView bias = {};
  Write write = Write::overwrite;
  Workspace workspace = {};
};

namespace reference {

[[nodiscard]] Bytes matmul_workspace(const Matmul& args);
void matmul(const Matmul& args);
/// Which library multiplies: "oneDNN", "Eigen" or "own loops".
[[nodiscard]] std::string_view matmul_library();

}  // namespace reference
}  // namespace plumbline
