#pragma once
/// \file product_cuts.h: products whose sizes are odd, as products that tensor cores take at full speed.
///
/// Answers: the calls that together are a product. Model: of 16-bit operands whose rows begin at multiples of 16 bytes,
/// a long dimension that is no multiple of eight elements (a vocabulary of 50 257) is cut into its largest multiple of
/// eight and the rest: cuBLASLt's fast kernels take such sizes alone. Of a sum the rest comes first, so that all else
/// is added in fp32 before the result is rounded. Source: measured on an H200 on 2026-11-26, the head of GPT-2 with
/// rows of 50 264 elements ran at 90 TFLOP/s. Not modelled: products with sums of rows, and biased ones whose inner
/// dimension is odd: they stay whole. Checked against: tests/cuda/product_cuts_test.cpp.

#include <vector>

#include "runtime/cuda/product_shape.h"

namespace plumbline {

/// One call, the product itself, or two or more in the order in which they are to run.
[[nodiscard]] std::vector<ProductCall> cut_product(const ProductCall& call);

}  // namespace plumbline
