#pragma once
/// \file reductions.h: one number from a tensor: the sum of squares (for clipping), the largest magnitude (for fp8
/// scales), and whether anything is not finite (for loss scaling).
///
/// Sums are kept in double precision in a fixed order, so that a rank's result is the same at every run.
/// Checked against: tests/kernels/reductions_test.cpp.

#include "kernels/tensor_view.h"

namespace plumbline::reference {

[[nodiscard]] double sum_of_squares(const ConstTensorView& input);
/// NaN if any element is.
[[nodiscard]] float largest_magnitude(const ConstTensorView& input);
[[nodiscard]] bool has_non_finite(const ConstTensorView& input);

}  // namespace plumbline::reference
