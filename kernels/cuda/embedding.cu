// Rows of a table by token. Gradients of a token that repeats are added in the order of the rows.
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

__global__ void take_rows(EmbeddingForward args) {
  for_each_element(args.output.rows, args.output.columns, [&](std::int64_t row, std::int64_t column) {
    const std::int64_t at = args.tokens[row] - args.first_token;
    store(args.output, row, column, at >= 0 && at < args.table.rows ? load(args.table, at, column) : 0.0F);
  });
}

/// Whether a row before `row` has its token; all threads of the block get the answer.
static __device__ __forceinline__ bool comes_earlier(const EmbeddingBackward& args, std::int64_t row) {
  __shared__ int is_found;
  if (threadIdx.x == 0) is_found = 0;
  __syncthreads();
  const std::int32_t token = args.tokens[row];
  int here = 0;
  for (std::int64_t before = threadIdx.x; before < row; before += blockDim.x)
    if (args.tokens[before] == token) here = 1;
  if (here != 0) atomicOr(&is_found, 1);
  __syncthreads();
  return is_found != 0;
}

constexpr int columns_of_thread = 4;
constexpr int rows_ahead = 4;  // read before any of them is added

/// In order of rows. `view` has a format that is known when compiling, and what is not there is read from the first row
/// and column: without branches in between, all reads are under way at once.
__device__ __forceinline__ void add_listed_rows(const ConstTensorView& view, const std::int64_t* listed, int count,
                                                std::int64_t column, float (&sums)[columns_of_thread]) {
  const std::int64_t columns = view.columns;
  for (int begin = 0; begin < count; begin += rows_ahead) {
    float read[rows_ahead][columns_of_thread];
    PLUMBLINE_UNROLLED
    for (int r = 0; r < rows_ahead; ++r) PLUMBLINE_UNROLLED
    for (int c = 0; c < columns_of_thread; ++c) {
      const std::int64_t at = column + c * block_threads;
      read[r][c] = load(view, listed[begin + r < count ? begin + r : 0], at < columns ? at : 0);
    }
    PLUMBLINE_UNROLLED
    for (int r = 0; r < rows_ahead; ++r) PLUMBLINE_UNROLLED
    for (int c = 0; c < columns_of_thread; ++c)
      if (begin + r < count && column + c * block_threads < columns) sums[c] += read[r][c];
  }
}

/// The rows of a block's threads that are the same token's, in order; all threads get their number.
__device__ __forceinline__ int list_rows(bool is_same, std::int64_t row, unsigned* of_warp, std::int64_t* listed) {
  const unsigned same = __ballot_sync(all_lanes, is_same ? 1 : 0);
  const auto warp = static_cast<int>(threadIdx.x) / lanes;
  const auto lane = static_cast<int>(threadIdx.x) % lanes;
  if (lane == 0) of_warp[warp] = same;
  __syncthreads();
  int before = 0;
  int count = 0;
  for (int w = 0; w < static_cast<int>(block_threads) / lanes; ++w) {
    if (w == warp) before = count;
    count += __popc(of_warp[w]);
  }
  if (is_same) listed[before + __popc(same & ((1U << lane) - 1U))] = row;
  __syncthreads();
  return count;
}

/// The block of a token's first row adds all its rows, of so many columns; in each step it looks at as many rows as it
/// has threads. Sums are fp32, rounded once.
template <NumberFormat format>
__global__ void __launch_bounds__(block_threads) add_rows(EmbeddingBackward args) {
  __shared__ unsigned of_warp[block_threads / lanes];
  __shared__ std::int64_t listed[block_threads];
  const std::int64_t first = blockIdx.x;
  const std::int64_t at = args.tokens[first] - args.first_token;
  if (at < 0 || at >= args.table_gradient.rows || comes_earlier(args, first)) return;
  const TensorView& table = args.table_gradient;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * block_threads * columns_of_thread + threadIdx.x;
  float sums[columns_of_thread] = {};
  PLUMBLINE_UNROLLED
  for (int c = 0; c < columns_of_thread; ++c)
    if (column + c * block_threads < table.columns) sums[c] = load(table, at, column + c * block_threads);
  ConstTensorView gradient = args.output_gradient;
  gradient.format = format;
  const std::int64_t rows = gradient.rows;
  for (std::int64_t begin = first; begin < rows; begin += block_threads) {
    const std::int64_t row = begin + threadIdx.x;
    const int count = list_rows(row < rows && args.tokens[row] == args.tokens[first], row, of_warp, listed);
    add_listed_rows(gradient, listed, count, column, sums);
    __syncthreads();
  }
  PLUMBLINE_UNROLLED
  for (int c = 0; c < columns_of_thread; ++c)
    if (column + c * block_threads < table.columns) store(table, at, column + c * block_threads, sums[c]);
}

__global__ void add_positions(PositionEmbeddingForward args) {
  for_each_element(args.output.rows, args.output.columns, [&](std::int64_t row, std::int64_t column) {
    const std::int64_t at = position_of(args.place, row);
    store(args.output, row, column, load(args.input, row, column) + load(args.table, at, column));
  });
}

__global__ void add_position_gradients(PositionEmbeddingBackward args, std::int64_t positions) {
  for_each_element(positions, args.table_gradient.columns, [&](std::int64_t position, std::int64_t column) {
    float sum = load(args.table_gradient, args.place.first + position, column);
    for (std::int64_t row = position; row < args.output_gradient.rows; row += args.place.per_sequence)
      sum += load(args.output_gradient, row, column);
    store(args.table_gradient, args.place.first + position, column, sum);
  });
}

std::int64_t positions_of(const RowPlace& place, std::int64_t rows) { return std::min(place.per_sequence, rows); }

void check_positions(const RowPlace& place, std::int64_t rows, const ConstTensorView& table) {
  check(place.first + positions_of(place, rows) <= table.rows, "a learned position is in its table");
}

using AddRows = void (*)(EmbeddingBackward);
AddRows add_rows_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::bf16: return add_rows<NumberFormat::bf16>;
    case NumberFormat::fp16: return add_rows<NumberFormat::fp16>;
    default: return add_rows<NumberFormat::fp32>;
  }
}

}  // namespace

void embedding_forward(const EmbeddingForward& args, cudaStream_t stream) {
  check(args.table.columns == args.output.columns, "an embedding is as wide as its table");
  launch("embedding_forward", element_shape(args.output.rows, args.output.columns), stream, take_rows, args);
}

void embedding_backward(const EmbeddingBackward& args, cudaStream_t stream) {
  check(args.table_gradient.columns == args.output_gradient.columns, "an embedding is as wide as its table");
  LaunchShape shape = row_shape(args.output_gradient.rows);
  shape.grid.y =
      blocks_for(args.output_gradient.columns, std::int64_t{block_threads} * columns_of_thread, most_grid_rows);
  const NumberFormat format = args.output_gradient.format;
  check(bits(format) == 32 || bits(format) == 16, "gradients of an embedding have fp32 or 16 bits");
  launch("embedding_backward", shape, stream, add_rows_of(format), args);
}

void position_embedding_forward(const PositionEmbeddingForward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  check_positions(args.place, args.output.rows, args.table);
  launch("position_embedding_forward", element_shape(args.output.rows, args.output.columns), stream, add_positions,
         args);
}

void position_embedding_backward(const PositionEmbeddingBackward& args, cudaStream_t stream) {
  const std::int64_t positions = positions_of(args.place, args.output_gradient.rows);
  check_positions(args.place, args.output_gradient.rows, args.table_gradient);
  launch("position_embedding_backward", element_shape(positions, args.table_gradient.columns), stream,
         add_position_gradients, args, positions);
}

}  // namespace plumbline::cuda
