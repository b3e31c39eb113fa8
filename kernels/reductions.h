#pragma once
/// \file reductions.h: one number from a tensor: the sum of squares (for clipping), the largest magnitude (for fp8
/// scales), and whether anything is not finite (for loss scaling).
///
/// Sums are kept in double precision in a fixed order, so that a rank's result is the same at every run.
/// Checked against: tests/kernels/reductions_test.cpp.

#include <span>

#include "kernels/tensor_view.h"

namespace plumbline {

/// Of gradients, tensor after tensor.
struct TensorHealth {
  double sum_of_squares = 0;
  std::int64_t has_non_finite = 0;  ///< 1 where any element is not finite
};

/// sum = sum + those of input; both lie in the memory of the tensors.
struct HealthSum {
  ConstTensorView input;
  TensorHealth* sum = nullptr;
  Workspace workspace = {};
};

/// The same of several tensors.
struct HealthSums {
  std::span<const ConstTensorView> inputs;
  TensorHealth* sum = nullptr;
  Workspace workspace = {};
};

namespace reference {

[[nodiscard]] double sum_of_squares(const ConstTensorView& input);
/// NaN if any element is.
[[nodiscard]] float largest_magnitude(const ConstTensorView& input);
[[nodiscard]] bool has_non_finite(const ConstTensorView& input);
/// No scratch.
[[nodiscard]] Bytes health_workspace(const HealthSum& args);
void add_health(const HealthSum& args);

}  // namespace reference
}  // namespace plumbline
