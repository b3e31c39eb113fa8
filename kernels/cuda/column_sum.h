#pragma once
/// \file column_sum.h: sums over rows, one for each column: gradients of biases and of the norms' weights.
///
/// Answers: such sums in one launch (`sum_columns`), or of many rows in two (`sum_column_parts`, then the parts).
/// Model: in one launch a block of 8 rows of 32 threads takes 32 columns; each thread adds every eighth row in double
/// precision, then the eight are added in order. In two, 16 rows of 16 threads take 16 groups of eight columns (or
/// single ones) and a part of the rows, so that many blocks run; a thread adds 16 rows in fp32, then such sums, then 16
/// threads by pairs; the parts, which lie in scratch memory, are added in double precision. Nothing depends on which
/// block runs first: the same bits at every run.
/// Of n rows in at most 512 parts a sum in fp32 errs by at most (16 + n / 131 072 + 4) 2^-24 of the sum of magnitudes:
/// 1.3e-6 of it below 131 072 rows, before the target's rounding. Source: Higham, Accuracy and Stability of Numerical
/// Algorithms, section 4.2. Checked against: tests/kernels/cuda/norm_test.cpp.

#include "kernels/cuda/vectors.h"

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

/// Threads of a block that sums a part, in each direction, and the rows that a thread adds at a time.
inline constexpr int part_side = 16;
inline constexpr int rows_at_a_time = 16;
inline constexpr std::int64_t least_rows_of_part = part_side * rows_at_a_time;
inline constexpr std::int64_t most_parts_of_rows = 512;

/// How the rows of a sum are divided into parts; with one part a single launch sums all rows.
struct RowParts {
  std::int64_t rows = 0;  ///< of a part
  std::int64_t parts = 1;
};
[[nodiscard]] inline RowParts row_parts(std::int64_t rows) {
  const std::int64_t even = (rows + most_parts_of_rows - 1) / most_parts_of_rows;
  const std::int64_t of_part =
      std::max<std::int64_t>(1, (even + least_rows_of_part - 1) / least_rows_of_part) * least_rows_of_part;
  return {of_part, std::max<std::int64_t>(1, (rows + of_part - 1) / of_part)};
}
/// Of `sums` sums over the same rows.
[[nodiscard]] inline Bytes row_parts_workspace(std::int64_t rows, std::int64_t columns, int sums) {
  const std::int64_t parts = row_parts(rows).parts;
  return parts == 1 ? Bytes(0) : storage(parts * columns * sums, NumberFormat::fp32);
}
[[nodiscard]] inline LaunchShape row_parts_shape(std::int64_t rows, std::int64_t columns, bool is_vector) {
  const std::int64_t of_block = part_side * (is_vector ? vector_elements : 1);
  return {.grid = dim3(static_cast<unsigned>((columns + of_block - 1) / of_block),
                       static_cast<unsigned>(row_parts(rows).parts)),
          .block = dim3(part_side, part_side)};
}
/// The partial results of one of the sums: a row for each part.
[[nodiscard]] inline TensorView part_rows(const Workspace& workspace, std::int64_t rows, std::int64_t columns,
                                          int sum) {
  const std::int64_t parts = row_parts(rows).parts;
  return dense_view(static_cast<void*>(static_cast<float*>(workspace.data) + sum * parts * columns), NumberFormat::fp32,
                    parts, columns);
}

/// A thread's sums of N columns.
template <int N, int Sums>
struct ColumnTerms {
  Numbers<N> of[Sums];
};

/// terms(Count, row, column) of N columns, which end at `columns`; zero behind them.
template <int N, int Sums, class Terms>
__device__ __forceinline__ ColumnTerms<N, Sums> terms_of(std::int64_t columns, std::int64_t row, std::int64_t column,
                                                         const Terms& terms) {
  ColumnTerms<N, Sums> found = {};
  if (column + N <= columns) return terms(Count<N>{}, row, column);
  PLUMBLINE_UNROLLED
  for (int i = 0; i < N; ++i) {
    if (column + i >= columns) continue;
    const ColumnTerms<1, Sums> one = terms(Count<1>{}, row, column + i);
    PLUMBLINE_UNROLLED
    for (int s = 0; s < Sums; ++s) found.of[s].at[i] = one.of[s].at[0];
  }
  return found;
}

template <int N, int Sums>
__device__ __forceinline__ void add_terms(ColumnTerms<N, Sums>& to, const ColumnTerms<N, Sums>& terms) {
  PLUMBLINE_UNROLLED
  for (int s = 0; s < Sums; ++s) {
    PLUMBLINE_UNROLLED
    for (int i = 0; i < N; ++i) to.of[s].at[i] += terms.of[s].at[i];
  }
}

/// The sum of numbers that lie `stride` apart, by pairs.
template <int Terms>
__device__ __forceinline__ float pairwise_sum(const float* numbers, int stride) {
  if constexpr (Terms == 1)
    return numbers[0];
  else
    return pairwise_sum<Terms / 2>(numbers, stride) + pairwise_sum<Terms / 2>(numbers + Terms / 2 * stride, stride);
}

/// parts [sum, part of the rows, column] of a grid of row_parts_shape: sums of terms(Count, row, column).
template <int N, int Sums, class Terms>
static __device__ __forceinline__ void sum_column_parts(float* parts, std::int64_t rows, std::int64_t columns,
                                                        std::int64_t rows_of_part, const Terms& terms) {
  constexpr int width = part_side * N;
  __shared__ float of_thread[part_side][width];
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * width;
  const std::int64_t column = first_column + static_cast<int>(threadIdx.x) * N;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * rows_of_part;
  const std::int64_t end = begin + rows_of_part < rows ? begin + rows_of_part : rows;
  ColumnTerms<N, Sums> sums = {};
  for (std::int64_t first = begin; first < end; first += least_rows_of_part) {
    ColumnTerms<N, Sums> some = {};
    PLUMBLINE_ROLLED
    for (int i = 0; i < rows_at_a_time; ++i) {
      const std::int64_t row = first + i * part_side + threadIdx.y;
      if (row < end && column < columns) add_terms(some, terms_of<N, Sums>(columns, row, column, terms));
    }
    add_terms(sums, some);
  }
  const int thread = static_cast<int>(threadIdx.y * part_side + threadIdx.x);
  PLUMBLINE_UNROLLED
  for (int s = 0; s < Sums; ++s) {
    __syncthreads();  // sums before may still be read
    PLUMBLINE_UNROLLED
    for (int i = 0; i < N; ++i) of_thread[threadIdx.y][threadIdx.x * N + i] = sums.of[s].at[i];
    __syncthreads();
    if (thread < width && first_column + thread < columns)
      parts[(static_cast<std::int64_t>(s) * gridDim.y + blockIdx.y) * columns + first_column + thread] =
          pairwise_sum<part_side>(&of_thread[0][thread], width);
  }
}

}  // namespace plumbline::cuda
