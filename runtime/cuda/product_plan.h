#pragma once
/// \file product_plan.h: descriptors of one shape of matrix product, and the algorithms that cuBLASLt proposes for it.
///
/// Model: our matrices lie by rows, cuBLASLt's by columns, so that c^T = op(b)^T op(a)^T is asked for: the library's
/// first operand is our second. Operands with a scale for each row of c and for each of its columns are told to the
/// library as outer vectors, which it takes from 12.9 on, on sm_90 alone. Errors: CudaError with the call, the product
/// and the status. Source: cuBLAS 13.1, "Using the cuBLASLt API". Checked against: tests/cuda/matrix_products_test.cpp.

#include <memory>
#include <vector>

#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/product_shape.h"

namespace plumbline {

/// Throws CudaError unless the call succeeded.
void require(cublasStatus_t status, const std::string& call);

class ProductPlan {
 public:
  /// Null: the library has no such product.
  [[nodiscard]] static std::unique_ptr<ProductPlan> make(const CublasLt& library, cublasLtHandle_t handle,
                                                         const ProductCall& call);

  /// At least one.
  [[nodiscard]] std::size_t candidates() const { return candidates_.size(); }
  void choose(std::size_t candidate) { chosen_ = candidate; }
  [[nodiscard]] std::size_t chosen() const { return chosen_; }
  /// Of a call of this plan's shape. `into`: instead of c, of its size.
  [[nodiscard]] cublasStatus_t run(cublasLtHandle_t handle, const ProductCall& call, void* into, std::size_t candidate,
                                   cudaStream_t stream);

 private:
  template <class Object>
  using Held = std::unique_ptr<Object, cublasStatus_t (*)(Object*)>;
  using Description = Held<cublasLtMatmulDescOpaque_t>;
  using Layout = Held<cublasLtMatrixLayoutOpaque_t>;

  ProductPlan(const CublasLt& library, const ProductShape& shape);
  void describe(const ProductShape& shape);
  /// False: the library knows one scale for a tensor alone.
  [[nodiscard]] bool take_outer_scales();
  [[nodiscard]] Layout layout(const ConstTensorView& view) const;
  /// Asks for algorithms; false: there is none.
  [[nodiscard]] bool ask(cublasLtHandle_t handle, const ProductShape& shape);
  /// What is no part of the plan.
  void point_to(const ProductCall& call);
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, Value value);

  const CublasLt& library_;
  Description description_;
  Layout a_, b_, c_;
  std::vector<cublasLtMatmulHeuristicResult_t> candidates_;
  std::size_t chosen_ = 0;
};

}  // namespace plumbline
