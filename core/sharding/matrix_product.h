#pragma once
/// \file matrix_product.h: the shape of a matrix product, and what it computes.

#include <cstdint>

#include "core/quantity/quantity.h"

namespace plumbline {

/// `batch` products of [m, k] x [k, n].
struct MatrixProduct {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  [[nodiscard]] Flops flops() const {
    return Flops(2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) *
                 static_cast<double>(k));
  }
};

}  // namespace plumbline
