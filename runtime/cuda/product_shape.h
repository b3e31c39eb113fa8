#pragma once
/// \file product_shape.h: everything that the plan of a matrix product depends on.
///
/// Checked against: tests/cuda/matrix_products_test.cpp.

#include <array>
#include <compare>
#include <string>

#include "kernels/matmul.h"

namespace plumbline {

/// What is done with a product beside storing it.
enum class Epilogue : std::uint8_t {
  none,
  bias,
  row_sums  ///< sums of op(a)'s rows, which a weight gradient's bias takes: stored, not added
};

/// Scales of an fp8 operand.
enum class OperandScales : std::uint8_t {
  none,
  tensor,
  outer,  ///< one for each row of op(a) or column of op(b): factors of c's rows or columns
  inner   ///< one for each step of the sum, which no product of the library has
};

/// A product, and where the sums of op(a)'s rows are written, if anywhere: [1, m].
struct ProductCall {
  Matmul matmul;
  TensorView row_sums = {};
};

struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::array<std::int64_t, 3> strides{};      ///< of a, b, c
  std::array<NumberFormat, 3> formats{};      ///< the same
  std::array<std::uint32_t, 3> alignments{};  ///< bytes, at most 16
  std::array<OperandScales, 2> scales{};      ///< of a, b: a descriptor keeps the pointer that it was given
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  Epilogue epilogue = Epilogue::none;
  NumberFormat epilogue_format = NumberFormat::fp32;  ///< of the bias or the row sums
  Write write = Write::overwrite;
  auto operator<=>(const ProductShape&) const = default;
};
[[nodiscard]] ProductShape product_shape(const ProductCall& call);
/// "64 x 128 x 32 of bf16 and bf16 into fp32"; behind it "with scales of rows" where operands have such.
[[nodiscard]] std::string to_text(const ProductShape& shape);

}  // namespace plumbline
