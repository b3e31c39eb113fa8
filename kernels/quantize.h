#pragma once
/// \file quantize.h: fp8 with one scale per tensor, row or column, as training recipes use it.
///
/// A tensor is stored as codes c with x = c * scale, scale = amax / largest number of the format; numbers beyond
/// saturate. A cast (elementwise.h) to a view with that scale quantizes; every kernel reads such a view. With delayed
/// scaling the amax is that of earlier steps: keep a history and pass its maximum. With scales per row or column each
/// is that of its own largest magnitude; a product can be given them where they are of its outer dimensions. Source:
/// Micikevicius et al., arXiv:2209.05433, section 3; NVIDIA's Transformer Engine documentation, "FP8 primer"; torchao's
/// recipe "rowwise" and cuBLAS 13.1, "Outer vector scaling for FP8 data types". Not modelled: scales per block (MX
/// formats), scales rounded to powers of two. Checked against: tests/kernels/reductions_test.cpp.

#include "kernels/tensor_view.h"

namespace plumbline {

/// scale (written) = what a code of `input` in `format` is multiplied by: `fp8_scale` of the largest magnitude of the
/// tensor, or of each row or column, one after another.
struct Fp8Scale {
  ConstTensorView input;
  NumberFormat format = NumberFormat::fp8_e4m3;
  float* scale = nullptr;
  ScaleOf of = ScaleOf::tensor;
};
[[nodiscard]] constexpr std::int64_t scale_count(ScaleOf of, std::int64_t rows, std::int64_t columns) {
  return of == ScaleOf::tensor ? 1 : of == ScaleOf::row ? rows : columns;
}

namespace reference {

/// 448 or 57344.
[[nodiscard]] float largest_fp8(NumberFormat format);
/// What a code is multiplied by, so that `amax` is stored as the largest number. 1 for an amax of 0 or that is not
/// finite.
[[nodiscard]] float fp8_scale(NumberFormat format, float amax);
void fp8_scale(const Fp8Scale& args);

}  // namespace reference
}  // namespace plumbline
