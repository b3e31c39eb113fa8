#pragma once
/// \file column_sum.h: sums over rows, one for each column: gradients of biases and of the norms' weights.
///
/// Model: a block of 8 rows of 32 threads takes 32 columns; each thread adds every eighth row in double precision, then
/// the eight are added in order: the same bits at every run. Checked against: tests/kernels/cuda/norm_test.cpp.

#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {

inline constexpr int summing_rows = 8;

[[nodiscard]] inline LaunchShape column_sum_shape(std::int64_t columns, std::int64_t groups = 1) {
  return {.grid = dim3(static_cast<unsigned>((columns + lanes - 1) / lanes), static_cast<unsigned>(groups)),
          .block = dim3(lanes, summing_rows)};
}

/// target [target_row, column] = or += the sum of term(row, column) over rows [begin, end), for the block's columns.
template <class Term>
static __device__ __forceinline__ void sum_columns(const TensorView& target, std::int64_t target_row,
                                                   std::int64_t begin, std::int64_t end, Write write, Term term) {
  __shared__ double of_thread[summing_rows][lanes];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * lanes + threadIdx.x;
  double sum = 0;
  if (column < target.columns)
    for (std::int64_t row = begin + threadIdx.y; row < end; row += summing_rows)
      sum += static_cast<double>(term(row, column));
  of_thread[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= target.columns) return;
  for (int other = 1; other < summing_rows; ++other) sum += of_thread[other][threadIdx.x];
  if (write == Write::accumulate) sum += static_cast<double>(load(target, target_row, column));
  store(target, target_row, column, static_cast<float>(sum));
}

}  // namespace plumbline::cuda
