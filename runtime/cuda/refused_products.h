#pragma once
/// \file refused_products.h: products that cuBLASLt took for invalid, or that it does not have for this architecture.
///
/// Answers: one sentence for a warning behind a run. Model: our kernels multiply them; each shape is counted once for
/// all ranks of the process. That a product is not supported is no refusal: it is expected of some sizes and formats;
/// only with scales of rows it is one, which other architectures than sm_90 have not.
/// Checked against: tests/cuda/matrix_products_test.cpp.

#include "runtime/cuda/product_shape.h"

namespace plumbline {

struct RefusedProduct {
  ProductShape shape;
  std::string reason;  ///< "architecture mismatch"
};

/// From any thread.
void remember_refused(const RefusedProduct& product);
/// Empty: none was refused.
[[nodiscard]] std::string refused_products_text();
/// Begins anew.
void forget_refused_products();

}  // namespace plumbline
