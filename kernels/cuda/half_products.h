#pragma once
/// \file half_products.h: products of 16-bit matrices by tensor cores.
///
/// Answers: whether it takes a product, and runs it: op(a) and op(b) both fp16 or both bf16, c and bias of 16 bits or
/// fp32, any sizes, strides and transpositions, one product or one for each expert. Model: blocks of 8 warps take 128
/// by 128 elements of c and go over the inner dimension in steps of 32, three of which are on their way; operands whose
/// rows begin at multiples of 16 bytes are copied by cp.async, others element by element. Sums are fp32, in one order.
/// Not modelled: wgmma, splitting the inner dimension. Checked against: tests/kernels/cuda/half_products_test.cpp.

#include "kernels/cuda/product_tile.h"
#include "kernels/grouped_linear.h"

namespace plumbline::cuda {

/// What the experts of a grouped product divide.
enum class Divided : std::uint8_t {
  nothing,  ///< one product
  rows,     ///< an expert's rows of a and c, and its slice of b's rows: x W^T, dy W
  inner     ///< an expert's rows of a and b, and its slice of c's rows: dy^T x
};

/// `counts` lie in the device's memory. `rows_of_b`: of one expert, where rows are divided.
struct HalfProduct {
  Product product;
  Divided divided = Divided::nothing;
  ExpertRows groups = {};
  std::int64_t rows_of_b = 0;
};

[[nodiscard]] bool takes_half_product(const Product& product);
/// Of a product that it takes. m, of a product of rows, or k, of an inner one, is the sum over all experts.
void half_product(const char* name, const HalfProduct& args, cudaStream_t stream);

}  // namespace plumbline::cuda
