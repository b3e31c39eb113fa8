// Rows of a table by token. Gradients of a token that repeats are added in the order of the rows, by one block.
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

__device__ __forceinline__ void add_row(const EmbeddingBackward& args, std::int64_t row, std::int64_t at) {
  for_each_column(args.table_gradient.columns, [&](std::int64_t column) {
    store(args.table_gradient, at, column, load(args.output_gradient, row, column), Write::accumulate);
  });
}

/// The block of a token's first row adds all its rows; in each step it looks at as many rows as it has threads.
__global__ void __launch_bounds__(block_threads) add_rows(EmbeddingBackward args) {
  __shared__ unsigned of_warp[block_threads / lanes];
  const std::int64_t first = blockIdx.x;
  const std::int64_t at = args.tokens[first] - args.first_token;
  if (at < 0 || at >= args.table_gradient.rows || comes_earlier(args, first)) return;
  const std::int64_t rows = args.output_gradient.rows;
  for (std::int64_t begin = first; begin < rows; begin += block_threads) {
    const std::int64_t row = begin + threadIdx.x;
    const unsigned same = __ballot_sync(all_lanes, row < rows && args.tokens[row] == args.tokens[first] ? 1 : 0);
    if (threadIdx.x % lanes == 0) of_warp[threadIdx.x / lanes] = same;
    __syncthreads();
    for (int warp = 0; warp < static_cast<int>(block_threads) / lanes; ++warp)
      for (int lane = 0; lane < lanes; ++lane)
        if ((of_warp[warp] >> lane & 1U) != 0) add_row(args, begin + warp * lanes + lane, at);
    __syncthreads();
  }
}

__global__ void add_positions(PositionEmbeddingForward args) {
  for_each_element(args.output.rows, args.output.columns, [&](std::int64_t row, std::int64_t column) {
    const std::int64_t at = position_of(args.place, row);
    store(args.output, row, column, load(args.input, row, column) + load(args.table, at, column));
  });
}

__global__ void add_position_gradients(PositionEmbeddingBackward args, std::int64_t positions) {
  for_each_element(positions, args.table_gradient.columns, [&](std::int64_t position, std::int64_t column) {
    for (std::int64_t row = position; row < args.output_gradient.rows; row += args.place.per_sequence)
      store(args.table_gradient, args.place.first + position, column, load(args.output_gradient, row, column),
            Write::accumulate);
  });
}

std::int64_t positions_of(const RowPlace& place, std::int64_t rows) { return std::min(place.per_sequence, rows); }

void check_positions(const RowPlace& place, std::int64_t rows, const ConstTensorView& table) {
  check(place.first + positions_of(place, rows) <= table.rows, "a learned position is in its table");
}

}  // namespace

void embedding_forward(const EmbeddingForward& args, cudaStream_t stream) {
  check(args.table.columns == args.output.columns, "an embedding is as wide as its table");
  launch("embedding_forward", element_shape(args.output.rows, args.output.columns), stream, take_rows, args);
}

void embedding_backward(const EmbeddingBackward& args, cudaStream_t stream) {
  check(args.table_gradient.columns == args.output_gradient.columns, "an embedding is as wide as its table");
  launch("embedding_backward", row_shape(args.output_gradient.rows), stream, add_rows, args);
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
