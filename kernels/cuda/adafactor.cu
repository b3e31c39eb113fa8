// Adafactor: a warp sums each row, a block each matrix, and eight rows at a time each column.
#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/optimizer_rules.h"

namespace plumbline::cuda {
namespace {

constexpr int rows_of_block = static_cast<int>(block_threads) / lanes;

/// The rows, of all matrices, in which the elements of a range lie.
struct TouchedRows {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
[[nodiscard]] TouchedRows touched_rows(const AdafactorStep& args) {
  const std::int64_t count = args.parameter.gradient.columns;
  if (count == 0) return {};
  const std::int64_t first = args.first / args.columns;
  return {first, (args.first + count - 1) / args.columns - first + 1};
}

/// Elements of row `row` in the range: [begin, end) of the view.
struct RowPart {
  std::int64_t begin;
  std::int64_t end;
};
__device__ __forceinline__ RowPart part_of_row(const AdafactorStep& args, std::int64_t row) {
  const std::int64_t begin = row * args.columns - args.first;
  const std::int64_t end = begin + args.columns;
  const std::int64_t count = args.parameter.gradient.columns;
  return {begin < 0 ? 0 : begin, end > count ? count : end};
}

/// 1 / root of what the means say of the square of element `at` of row `row`, at least the least one.
__device__ __forceinline__ float root_of(const AdafactorStep& args, std::int64_t row, std::int64_t at) {
  float square = load(args.row_means, 0, row);
  if (args.column_means.data != nullptr) {
    const std::int64_t matrix = row / args.rows;
    const std::int64_t column = matrix * args.columns + (args.first + at) % args.columns;
    const float mean = args.mean_rows[matrix];
    square = square * load(args.column_means, 0, column) /
             (mean < AdafactorStep::least_mean ? AdafactorStep::least_mean : mean);
  }
  return 1.0F / sqrtf(square < AdafactorStep::least_square ? AdafactorStep::least_square : square);
}

__device__ __forceinline__ std::int64_t row_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * rows_of_block + threadIdx.x / lanes;
}

/// Squares of gradients by row, and of weights, which wait for their matrix's sum.
__global__ void add_row_squares(AdafactorStep args, TouchedRows rows, float* weights) {
  OptimizedParameter& p = args.parameter;
  if (!is_decided(p)) return;
  const TensorView source = p.master.data != nullptr ? p.master : p.parameter;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows_of_block;
  for (std::int64_t i = row_of_warp(); i < rows.count; i += step) {
    const RowPart part = part_of_row(args, rows.first + i);
    float squares = 0;
    float of_weights = 0;
    for (std::int64_t at = part.begin + threadIdx.x % lanes; at < part.end; at += lanes) {
      const float g = scaled_gradient(p, load(p.gradient, 0, at));
      const float w = load(source, 0, at);
      squares += g * g;
      of_weights += w * w;
    }
    squares = warp_sum(squares);
    of_weights = warp_sum(of_weights);
    if (threadIdx.x % lanes != 0) continue;
    args.row_sums[rows.first + i] += squares;
    weights[i] = of_weights;
  }
}

/// Squares of updates by row.
__global__ void add_row_updates(AdafactorStep args, TouchedRows rows, float* updates) {
  OptimizedParameter& p = args.parameter;
  if (!is_decided(p)) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows_of_block;
  for (std::int64_t i = row_of_warp(); i < rows.count; i += step) {
    const std::int64_t row = rows.first + i;
    const RowPart part = part_of_row(args, row);
    float squares = 0;
    for (std::int64_t at = part.begin + threadIdx.x % lanes; at < part.end; at += lanes) {
      const float u = scaled_gradient(p, load(p.gradient, 0, at)) * root_of(args, row, at);
      squares += u * u;
    }
    squares = warp_sum(squares);
    if (threadIdx.x % lanes == 0) updates[i] = squares;
  }
}

/// A block for each matrix: what its rows have summed.
__global__ void add_matrix_sums(AdafactorStep args, TouchedRows rows, const float* of_rows, float* sums) {
  if (!is_decided(args.parameter)) return;
  for (std::int64_t matrix = blockIdx.x; matrix < args.matrices; matrix += gridDim.x) {
    std::int64_t begin = matrix * args.rows - rows.first;
    std::int64_t end = begin + args.rows;
    begin = begin < 0 ? 0 : begin;
    end = end > rows.count ? rows.count : end;
    float sum = 0;
    for (std::int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) sum += of_rows[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0 && begin < end) sums[matrix] += sum;
  }
}

/// Blocks of 32 columns of a matrix: each warp takes every eighth row.
__global__ void add_column_squares(AdafactorStep args, TouchedRows rows) {
  __shared__ float of_warp[rows_of_block][lanes];
  OptimizedParameter& p = args.parameter;
  if (!is_decided(p)) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  for (std::int64_t matrix = blockIdx.y; matrix < args.matrices; matrix += gridDim.y) {
    std::int64_t begin = matrix * args.rows;
    std::int64_t end = begin + args.rows;
    begin = begin < rows.first ? rows.first : begin;
    end = end > rows.first + rows.count ? rows.first + rows.count : end;
    for (std::int64_t first = std::int64_t{blockIdx.x} * lanes; first < args.columns;
         first += std::int64_t{gridDim.x} * lanes) {
      const std::int64_t column = first + lane;
      float sum = 0;
      if (column < args.columns)
        for (std::int64_t row = begin + warp; row < end; row += rows_of_block) {
          const std::int64_t at = row * args.columns + column - args.first;
          if (at < 0 || at >= p.gradient.columns) continue;
          const float g = scaled_gradient(p, load(p.gradient, 0, at));
          sum += g * g;
        }
      __syncthreads();  // what was summed before may still be read
      of_warp[warp][lane] = sum;
      __syncthreads();
      if (warp != 0 || column >= args.columns) continue;
      for (int i = 1; i < rows_of_block; ++i) sum += of_warp[i][lane];
      args.column_sums[matrix * args.columns + column] += sum;
    }
  }
}

/// Moves `count` means, and answers each thread's part of their sum.
__device__ __forceinline__ float keep_means(const TensorView& means, const float* sums, std::int64_t first,
                                            std::int64_t count, float of, float share) {
  float sum = 0;
  for (std::int64_t i = first + threadIdx.x; i < first + count; i += blockDim.x) {
    store(means, 0, i, AdafactorStep::moved(load(means, 0, i), sums[i] / of, share));
    sum += load(means, 0, i);
  }
  return sum;
}

/// A block for each matrix.
__global__ void keep_matrix_means(AdafactorStep args) {
  if (!is_decided(args.parameter)) return;
  const auto share = static_cast<float>(pow(static_cast<double>(args.update()), -0.8));
  for (std::int64_t matrix = blockIdx.x; matrix < args.matrices; matrix += gridDim.x) {
    float sum = keep_means(args.row_means, args.row_sums, matrix * args.rows, args.rows,
                           static_cast<float>(args.whole_columns), share);
    if (args.column_means.data == nullptr) continue;
    const float of_columns = keep_means(args.column_means, args.column_sums, matrix * args.columns, args.columns,
                                        static_cast<float>(args.whole_rows), share);
    const bool has_rows = args.rows == args.whole_rows;
    sum = block_sum(has_rows ? sum : of_columns);
    if (threadIdx.x == 0) args.mean_rows[matrix] = sum / static_cast<float>(has_rows ? args.rows : args.columns);
  }
}

__global__ void take_updates(AdafactorStep args) {
  OptimizedParameter& p = args.parameter;
  if (!is_decided(p)) return;
  const TensorView source = p.master.data != nullptr ? p.master : p.parameter;
  const float keep = kept_share(p);
  const float limit = 1.0F / sqrtf(static_cast<float>(args.update()));
  const float rate = p.learning_rate < limit ? p.learning_rate : limit;
  RoundingWords words(p.rounding);
  for_each_element(1, p.parameter.columns, [&](std::int64_t /*row*/, std::int64_t at) {
    const std::int64_t row = (args.first + at) / args.columns;
    const std::int64_t matrix = row / args.rows;
    const float size = sqrtf(args.weight_sums[matrix] / args.elements());
    const float of_update = sqrtf(args.update_sums[matrix] / args.elements());
    const float of_matrix = (size > AdafactorStep::least_size ? size : AdafactorStep::least_size) * rate /
                            (of_update > 1.0F ? of_update : 1.0F);
    const float u = scaled_gradient(p, load(p.gradient, 0, at)) * root_of(args, row, at);
    float w = load(source, 0, at) * keep - of_matrix * u;
    if (p.rounding.is_on) w = stochastically_rounded(w, source.format, words.of(at));
    store(p.parameter, 0, at, w);
    if (p.master.data != nullptr) store(p.master, 0, at, w);
  });
}

[[nodiscard]] LaunchShape warp_for_each(std::int64_t rows) { return {.grid = dim3(blocks_for(rows, rows_of_block))}; }
[[nodiscard]] LaunchShape block_for_each(std::int64_t matrices) { return {.grid = dim3(blocks_for(matrices, 1))}; }

}  // namespace

Bytes adafactor_workspace(const AdafactorStep& args) { return storage(touched_rows(args).count, NumberFormat::fp32); }

void adafactor_squares(const AdafactorStep& args, cudaStream_t stream) {
  check_same_shape(args.parameter.parameter, args.parameter.gradient);
  const TouchedRows rows = touched_rows(args);
  if (rows.count == 0) return;
  auto* const weights = static_cast<float*>(args.workspace.data);
  launch("adafactor_squares", warp_for_each(rows.count), stream, add_row_squares, args, rows, weights);
  launch("adafactor_squares", block_for_each(args.matrices), stream, add_matrix_sums, args, rows,
         static_cast<const float*>(weights), args.weight_sums);
  if (!args.column_means.is_there()) return;
  const dim3 grid(blocks_for(args.columns, lanes), blocks_for(args.matrices, 1, most_grid_rows));
  launch("adafactor_squares", {.grid = grid}, stream, add_column_squares, args, rows);
}

void adafactor_means(const AdafactorStep& args, cudaStream_t stream) {
  check(args.row_means.is_there(), "Adafactor keeps means");
  launch("adafactor_means", block_for_each(args.matrices), stream, keep_matrix_means, args);
}

void adafactor_updates(const AdafactorStep& args, cudaStream_t stream) {
  const TouchedRows rows = touched_rows(args);
  if (rows.count == 0) return;
  auto* const updates = static_cast<float*>(args.workspace.data);
  launch("adafactor_updates", warp_for_each(rows.count), stream, add_row_updates, args, rows, updates);
  launch("adafactor_updates", block_for_each(args.matrices), stream, add_matrix_sums, args, rows,
         static_cast<const float*>(updates), args.update_sums);
}

void adafactor_step(const AdafactorStep& args, cudaStream_t stream) {
  check_same_shape(args.parameter.parameter, args.parameter.gradient);
  launch("adafactor_step", element_shape(1, args.parameter.parameter.columns), stream, take_updates, args);
}

}  // namespace plumbline::cuda
