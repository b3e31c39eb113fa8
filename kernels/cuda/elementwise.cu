#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/vectors.h"

namespace plumbline::cuda {
namespace {

/// A square of the transposition: 33 floats to a row, so that a column lies in 32 banks of shared memory.
constexpr int square = 32;
constexpr int square_rows = 8;  // of threads

constexpr int wide_square = 64;  // of groups of eight elements

/// visit(Count, 0) of eight columns that there are, or visit(Count, i) of those that there are, one by one.
template <class Visit>
__device__ __forceinline__ void for_numbers(std::int64_t columns, std::int64_t column, const Visit& visit) {
  if (column + vector_elements <= columns) return visit(Count<vector_elements>{}, 0);
  PLUMBLINE_ROLLED
  for (int i = 0; column + i < columns; ++i) visit(Count<1>{}, i);
}

template <int N>
__global__ void add_elements(Add args) {
  for_each_element_group<N>(args.output.rows, args.output.columns,
                            [&](auto count, std::int64_t row, std::int64_t column) {
                              Numbers<count> sum = load_numbers<count>(args.a, row, column);
                              const Numbers<count> b = load_numbers<count>(args.b, row, column);
                              for (int i = 0; i < count; ++i) sum.at[i] += b.at[i];
                              store_numbers<count>(args.output, row, column, sum);
                            });
}

template <int N>
__global__ void scale_elements(Scale args) {
  for_each_element_group<N>(args.output.rows, args.output.columns,
                            [&](auto count, std::int64_t row, std::int64_t column) {
                              Numbers<count> numbers = load_numbers<count>(args.input, row, column);
                              for (int i = 0; i < count; ++i) numbers.at[i] *= args.factor;
                              store_numbers<count>(args.output, row, column, numbers);
                            });
}

template <int N>
__global__ void cast_elements(Cast args) {
  for_each_element_group<N>(
      args.output.rows, args.output.columns, [&](auto count, std::int64_t row, std::int64_t column) {
        store_numbers<count>(args.output, row, column, load_numbers<count>(args.input, row, column));
      });
}

template <int N>
__global__ void fill_elements(Fill args) {
  for_each_element_group<N>(args.output.rows, args.output.columns,
                            [&](auto count, std::int64_t row, std::int64_t column) {
                              Numbers<count> numbers;
                              for (int i = 0; i < count; ++i) numbers.at[i] = args.value;
                              store_numbers<count>(args.output, row, column, numbers);
                            });
}

__global__ void transpose_squares(TransposeCopy args) {
  __shared__ float values[square][square + 1];
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * square;
  for (std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * square; first_row < args.input.rows;
       first_row += static_cast<std::int64_t>(gridDim.y) * square) {
    const std::int64_t column = first_column + threadIdx.x;
    for (int i = static_cast<int>(threadIdx.y); i < square; i += square_rows)
      if (first_row + i < args.input.rows && column < args.input.columns)
        values[i][threadIdx.x] = load(args.input, first_row + i, column);
    __syncthreads();
    const std::int64_t row = first_row + threadIdx.x;
    for (int i = static_cast<int>(threadIdx.y); i < square; i += square_rows)
      if (row < args.input.rows && first_column + i < args.input.columns)
        store(args.output, first_column + i, row, values[threadIdx.x][i]);
    __syncthreads();
  }
}

/// As transpose_squares, by groups of eight elements of the input's rows, then of the output's.
__global__ void __launch_bounds__(block_threads) transpose_groups(TransposeCopy args) {
  constexpr int groups = wide_square / vector_elements;
  [[maybe_unused]] __shared__ float values[wide_square][wide_square + 1];  // g++ overlooks its use in generic lambdas
  const int group = static_cast<int>(threadIdx.x) % groups * vector_elements;
  const int first = static_cast<int>(threadIdx.x) / groups;
  constexpr int step = static_cast<int>(block_threads) / groups;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * wide_square;
  for (std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * wide_square; first_row < args.input.rows;
       first_row += static_cast<std::int64_t>(gridDim.y) * wide_square) {
    for (int i = first; i < wide_square; i += step) {
      const std::int64_t column = first_column + group;
      if (first_row + i >= args.input.rows) continue;
      for_numbers(args.input.columns, column, [&](auto count, int at) {
        const Numbers<count> numbers = load_numbers<count>(args.input, first_row + i, column + at);
        PLUMBLINE_UNROLLED
        for (int e = 0; e < count; ++e) values[i][group + at + e] = numbers.at[e];
      });
    }
    __syncthreads();
    for (int i = first; i < wide_square; i += step) {
      const std::int64_t row = first_row + group;
      if (first_column + i >= args.input.columns) continue;
      for_numbers(args.input.rows, row, [&](auto count, int at) {
        Numbers<count> numbers;
        PLUMBLINE_UNROLLED
        for (int e = 0; e < count; ++e) numbers.at[e] = values[group + at + e][i];
        store_numbers<count>(args.output, first_column + i, row + at, numbers);
      });
    }
    __syncthreads();
  }
}

}  // namespace

void add(const Add& args, cudaStream_t stream) {
  check_same_shape(args.a, args.b);
  check_same_shape(args.a, args.output);
  launch_elements("add", args.output.rows, args.output.columns, takes_vectors(args.a, args.b, args.output), stream,
                  add_elements<vector_elements>, add_elements<1>, args);
}

void scale(const Scale& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  launch_elements("scale", args.output.rows, args.output.columns, takes_vectors(args.input, args.output), stream,
                  scale_elements<vector_elements>, scale_elements<1>, args);
}

void cast(const Cast& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  launch_elements("cast", args.output.rows, args.output.columns, takes_vectors(args.input, args.output), stream,
                  cast_elements<vector_elements>, cast_elements<1>, args);
}

void fill(const Fill& args, cudaStream_t stream) {
  launch_elements("fill", args.output.rows, args.output.columns, takes_vectors(args.output), stream,
                  fill_elements<vector_elements>, fill_elements<1>, args);
}

void transpose(const TransposeCopy& args, cudaStream_t stream) {
  check(args.input.rows == args.output.columns && args.input.columns == args.output.rows,
        "a transposed tensor has the rows and columns of the other");
  const bool is_vector = takes_vectors(args.input, args.output);
  const int side = is_vector ? wide_square : square;
  const LaunchShape shape{.grid = dim3(static_cast<unsigned>((args.input.columns + side - 1) / side),
                                       blocks_for(args.input.rows, side, most_grid_rows)),
                          .block = is_vector ? dim3(block_threads) : dim3(square, square_rows)};
  launch("transpose", shape, stream, is_vector ? transpose_groups : transpose_squares, args);
}

}  // namespace plumbline::cuda
