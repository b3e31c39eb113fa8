#pragma once
/// \file matrix_products.h: matrix products through cuBLASLt, with plans that are made once.
///
/// Answers: what kernels/matmul.h declares, on a stream, or that the library has no such product. A plan is made for a
/// shape, its strides, formats, epilogue and alignment, and is kept. Of the algorithms that the library proposes the
/// first is taken, or each is timed once, on a stream of its own and into memory of its own, and the fastest is kept
/// for all ranks of the process. Sums are fp32; tf32 is the library's own rounding of fp32 operands; fp8 operands lie
/// with their inner dimension along rows; each has one scale, or op(a) has one for each row and op(b) one for each
/// column, in the device's memory. Errors: CudaError with the call, the product and the status. Source: cuBLAS 13.1,
/// "Using the cuBLASLt API"; workspace of 32 MiB: the same, "cublasSetWorkspace", for sm_90. Not modelled: products of
/// groups whose sizes only the device knows; scales per block; plans that are first asked for while a graph is
/// recorded. Checked against: tests/cuda/matrix_products_test.cpp, fp8_products_test.cpp (a stand-in that checks
/// layouts and computes with the reference).

#include <map>

#include "runtime/cuda/product_plan.h"

namespace plumbline {

/// Of one device, used by its thread.
class MatrixProducts {
 public:
  MatrixProducts(const CublasLt& library, ProductTuning tuning);
  ~MatrixProducts();
  MatrixProducts(const MatrixProducts&) = delete;
  MatrixProducts& operator=(const MatrixProducts&) = delete;

  /// Views and workspace lie in the device's memory. False: nothing was done, the library has no such product.
  [[nodiscard]] bool run(const ProductCall& call, cudaStream_t stream);
  [[nodiscard]] static Bytes workspace();
  /// How many were made, or found not to be there.
  [[nodiscard]] std::size_t plans() const { return plans_.size(); }
  /// Which of the proposed algorithms a call runs; -1: none yet.
  [[nodiscard]] int choice(const ProductCall& call) const;

 private:
  /// Null: there is none.
  [[nodiscard]] ProductPlan* plan_of(const ProductCall& call);
  void tune(ProductPlan& plan, const ProductCall& call);

  const CublasLt& library_;
  ProductTuning tuning_;
  cublasLtHandle_t handle_ = nullptr;
  std::string device_;  ///< its name: what is fastest depends on it
  std::map<ProductShape, std::unique_ptr<ProductPlan>> plans_;
};

}  // namespace plumbline
