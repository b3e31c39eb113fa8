#pragma once
/// \file matrix_products.h: matrix products through cuBLASLt, with plans that are made once.
///
/// Answers: what kernels/matmul.h declares, on a stream. Model: our matrices lie by rows, cuBLASLt's by columns, so
/// that c^T = op(b)^T op(a)^T is asked for. A plan is what the library's heuristic answers for a shape, its strides,
/// formats, epilogue and alignment; it is kept. Sums are fp32; tf32 is the library's own rounding of fp32 operands; fp8
/// operands have one scale each, in the device's memory. Errors: CudaError with the call, the product and the status;
/// products that the library does not have (operands of different widths, fp8 that does not lie with its inner
/// dimension along rows) are refused so. Source: cuBLAS 13.1, "Using the cuBLASLt API"; workspace of 32 MiB: the same,
/// "cublasSetWorkspace", for sm_90. Not modelled: products of groups whose sizes only the device knows; scales per row.
/// Checked against: tests/cuda/matrix_products_test.cpp (a stand-in that checks layouts and computes with the
/// reference).

#include <cublasLt.h>

#include <array>
#include <compare>
#include <map>
#include <memory>

#include "kernels/matmul.h"
#include "runtime/cuda/cuda_call.h"

namespace plumbline {

/// Everything that a plan depends on.
struct ProductShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::array<std::int64_t, 3> strides{};      ///< of a, b, c
  std::array<NumberFormat, 3> formats{};      ///< the same
  std::array<std::uint32_t, 3> alignments{};  ///< bytes, at most 16
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  bool has_bias = false;
  NumberFormat bias = NumberFormat::fp32;
  Write write = Write::overwrite;
  auto operator<=>(const ProductShape&) const = default;
};
[[nodiscard]] ProductShape product_shape(const Matmul& args);
/// "64 x 128 x 32 of bf16 and bf16 into fp32".
[[nodiscard]] std::string to_text(const ProductShape& shape);

/// Of one device, used by its thread.
class MatrixProducts {
 public:
  MatrixProducts();
  ~MatrixProducts();
  MatrixProducts(const MatrixProducts&) = delete;
  MatrixProducts& operator=(const MatrixProducts&) = delete;

  /// Views and workspace lie in the device's memory.
  void run(const Matmul& args, cudaStream_t stream);
  [[nodiscard]] static Bytes workspace(const Matmul& args);
  /// How many were made.
  [[nodiscard]] std::size_t plans() const { return plans_.size(); }

 private:
  class Plan;

  [[nodiscard]] Plan& plan_of(const ProductShape& shape, const Matmul& args);

  cublasLtHandle_t handle_ = nullptr;
  std::map<ProductShape, std::unique_ptr<Plan>> plans_;
};

}  // namespace plumbline
