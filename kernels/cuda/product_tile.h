#pragma once
/// \file product_tile.h: a tile of a product of matrices of any format, straightforwardly.
///
/// Answers: c = alpha op(a) op(b) + beta c + bias, or c += ..., summed in fp32 and rounded once. Model: a block of 16
/// by 16 threads computes 64 by 64 elements from 16 steps of the inner dimension at a time in shared memory; each
/// thread 4 by 4. Not modelled: tensor cores; cuBLASLt is for speed, this for what it does not take and for tests.
/// Checked against: tests/kernels/cuda/matmul_test.cpp.

#include "kernels/cuda/elements.h"
#include "kernels/matmul.h"

namespace plumbline::cuda {

/// op(a) [m, k] and op(b) [k, n] begin at the given rows of their tensors, c at its own.
struct Product {
  ConstTensorView a;
  ConstTensorView b;
  TensorView c;
  ConstTensorView bias = {};
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  float alpha = 1.0F;
  float beta = 0.0F;
  std::int64_t first_row_of_a = 0;
  std::int64_t first_row_of_b = 0;
  std::int64_t first_row_of_c = 0;
  std::int64_t bias_row = 0;
};

inline constexpr int product_tile = 64;
inline constexpr int product_depth = 16;
inline constexpr int product_side = 16;  ///< threads of a block in each direction
inline constexpr int product_threads = product_side * product_side;
inline constexpr int product_blocks = 2;  ///< that share a multiprocessor at least
inline constexpr int per_thread = product_tile / product_side;

/// Element [outer, inner] of an operand, zero outside of it.
__device__ __forceinline__ float operand_element(const ConstTensorView& view, std::int64_t first_row,
                                                 bool outer_is_rows, std::int64_t outer, std::int64_t inner,
                                                 std::int64_t most_outer, std::int64_t most_inner) {
  if (outer >= most_outer || inner >= most_inner) return 0.0F;
  return outer_is_rows ? load(view, first_row + outer, inner) : load(view, first_row + inner, outer);
}

struct OperandTile {
  float values[product_depth][product_tile];
};

/// Threads that are neighbours read neighbours of a row.
__device__ __forceinline__ void load_operand(OperandTile& tile, const ConstTensorView& view, std::int64_t first_row,
                                             bool outer_is_rows, std::int64_t outer, std::int64_t inner,
                                             std::int64_t most_outer, std::int64_t most_inner) {
  const int thread = static_cast<int>(threadIdx.y) * product_side + static_cast<int>(threadIdx.x);
  for (int i = thread; i < product_tile * product_depth; i += product_side * product_side) {
    const int o = outer_is_rows ? i / product_depth : i % product_tile;
    const int k = outer_is_rows ? i % product_depth : i / product_tile;
    tile.values[k][o] = operand_element(view, first_row, outer_is_rows, outer + o, inner + k, most_outer, most_inner);
  }
}

__device__ __forceinline__ void store_product(const Product& p, std::int64_t row, std::int64_t column, float sum) {
  if (row >= p.m || column >= p.n) return;
  float value = p.alpha * sum;
  if (p.bias.data != nullptr) value += load(p.bias, p.bias_row, column);
  if (p.beta != 0.0F) value += p.beta * load(p.c, p.first_row_of_c + row, column);
  store(p.c, p.first_row_of_c + row, column, value);
}

/// The tile of c whose first element is [row, column].
static __device__ __forceinline__ void multiply_tile(const Product& p, std::int64_t row, std::int64_t column) {
  __shared__ OperandTile of_a;
  __shared__ OperandTile of_b;
  float sums[per_thread][per_thread] = {};
  for (std::int64_t inner = 0; inner < p.k; inner += product_depth) {
    load_operand(of_a, p.a, p.first_row_of_a, p.transpose_a == Transpose::no, row, inner, p.m, p.k);
    load_operand(of_b, p.b, p.first_row_of_b, p.transpose_b == Transpose::yes, column, inner, p.n, p.k);
    __syncthreads();
    for (int k = 0; k < product_depth; ++k)
      for (int i = 0; i < per_thread; ++i)
        for (int j = 0; j < per_thread; ++j)
          sums[i][j] += of_a.values[k][threadIdx.y + static_cast<unsigned>(i) * product_side] *
                        of_b.values[k][threadIdx.x + static_cast<unsigned>(j) * product_side];
    __syncthreads();
  }
  PLUMBLINE_UNROLLED
  for (int i = 0; i < per_thread; ++i) {
    PLUMBLINE_UNROLLED
    for (int j = 0; j < per_thread; ++j)
      store_product(p, row + threadIdx.y + i * product_side, column + threadIdx.x + j * product_side, sums[i][j]);
  }
}

}  // namespace plumbline::cuda
