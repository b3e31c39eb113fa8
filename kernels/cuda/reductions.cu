#include <cfloat>
#include <cmath>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/health.h"
#include "kernels/cuda/vectors.h"

namespace plumbline::cuda {
namespace {

/// The most blocks that share a sum, and how many elements a thread should have before another block is added.
constexpr std::int64_t most_parts = 1024;
constexpr std::int64_t elements_of_thread = 32;
/// Blocks of columns that share a multiprocessor at least: 128 registers for each thread, so that none is spilled.
constexpr int column_blocks = 2;
/// Likewise: without a number the compiler wants more, and spills a register on sm_80.
constexpr int element_blocks = 4;

/// Sums this block's part of the tensor: into `total` if it is the only block (`parts` is null), else into `parts`.
template <int N>
__global__ void __launch_bounds__(block_threads)
    add_tensor_health(ConstTensorView input, TensorHealth* parts, TensorHealth* total) {
  HealthOfThread of_thread;
  for_each_element_group<N>(input.rows, input.columns, [&](auto count, std::int64_t row, std::int64_t column) {
    of_thread.add(load_numbers<count>(input, row, column));
  });
  if (parts != nullptr) return of_thread.write(parts + blockIdx.y * gridDim.x + blockIdx.x);
  const TensorHealth health = of_thread.of_block();
  if (threadIdx.x != 0) return;
  total->sum_of_squares += health.sum_of_squares;
  if (health.has_non_finite != 0) total->has_non_finite = 1;
}

/// Adds the parts of all blocks in a fixed order, so that the result does not depend on which block ran first.
__global__ void __launch_bounds__(block_threads)
    add_parts(const TensorHealth* parts, std::int64_t count, TensorHealth* total) {
  double squares = 0;
  int non_finite = 0;
  for (std::int64_t part = threadIdx.x; part < count; part += block_threads) {
    squares += parts[part].sum_of_squares;
    if (parts[part].has_non_finite != 0) non_finite = 1;
  }
  squares = block_sum(squares);
  non_finite = block_sum(non_finite);
  if (threadIdx.x != 0) return;
  total->sum_of_squares += squares;
  if (non_finite != 0) total->has_non_finite = 1;
}

/// One block for a tensor that gives its threads little to do. Of sizes alone: addresses move between a rehearsal and a
/// step.
LaunchShape health_shape(const ConstTensorView& input) {
  constexpr std::int64_t of_block = block_threads * elements_of_thread;
  const unsigned across = blocks_for(input.columns, of_block, most_parts);
  const std::int64_t rows_of_block = std::max<std::int64_t>(1, of_block / std::max<std::int64_t>(1, input.columns));
  return {.grid = dim3(across, blocks_for(input.rows, rows_of_block, most_parts / across))};
}

/// A thread for each group of columns and `elements_of_thread` rows.
LaunchShape columns_shape(const ConstTensorView& input, bool is_vector) {
  const std::int64_t of_block = std::int64_t{block_threads} * (is_vector ? vector_elements : 1);
  return {.grid = dim3(blocks_for(input.columns, of_block), blocks_for(input.rows, elements_of_thread, most_parts))};
}

struct LargerBits {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

/// The maximum of bits does not depend on the order, so blocks may meet in one atomic operation of each.
template <int N>
__global__ void __launch_bounds__(block_threads, element_blocks)
    largest_bits(ConstTensorView input, unsigned* largest) {
  unsigned here = 0;
  for_each_element_group<N>(input.rows, input.columns, [&](auto count, std::int64_t row, std::int64_t column) {
    const Numbers<count> x = load_numbers<count>(input, row, column);
    PLUMBLINE_UNROLLED
    for (int i = 0; i < count; ++i) here = LargerBits{}(here, magnitude_bits(x.at[i]));
  });
  here = block_combine(here, 0U, LargerBits{});
  if (threadIdx.x == 0 && here > 0) atomicMax(largest, here);
}

/// What a code is multiplied by: a scale that is not a normal number would lose digits of every element.
__device__ __forceinline__ float scale_of(float amax, float largest_code) {
  const float scale = amax / largest_code;
  return magnitude_bits(amax) < infinity_bits && scale >= FLT_MIN ? scale : 1.0F;
}

/// Largest magnitudes become scales where they are.
__global__ void scales_from_bits(float* scales, std::int64_t count, float largest_code) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    scales[i] = scale_of(scales[i], largest_code);
}

/// A block for each row.
template <int N>
__global__ void __launch_bounds__(block_threads) scale_rows(ConstTensorView input, float* scales, float largest_code) {
  const std::int64_t row = blockIdx.x;
  unsigned here = 0;
  for_each_column_group<N>(input.columns, [&](auto count, std::int64_t column) {
    const Numbers<count> x = load_numbers<count>(input, row, column);
    PLUMBLINE_UNROLLED
    for (int i = 0; i < count; ++i) here = LargerBits{}(here, magnitude_bits(x.at[i]));
  });
  here = block_combine(here, 0U, LargerBits{});
  if (threadIdx.x == 0) scales[row] = scale_of(__uint_as_float(here), largest_code);
}

/// Neighbouring threads take neighbouring columns, of every so many rows.
template <int N>
__global__ void __launch_bounds__(block_threads, column_blocks)
    largest_of_columns(ConstTensorView input, unsigned* largest) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for_each_group<N>(input.columns, first, std::int64_t{gridDim.x} * blockDim.x, [&](auto count, std::int64_t column) {
    unsigned here[count] = {};
    for (std::int64_t row = blockIdx.y; row < input.rows; row += gridDim.y) {
      const Numbers<count> x = load_numbers<count>(input, row, column);
      PLUMBLINE_UNROLLED
      for (int i = 0; i < count; ++i) here[i] = LargerBits{}(here[i], magnitude_bits(x.at[i]));
    }
    PLUMBLINE_UNROLLED
    for (int i = 0; i < count; ++i)
      if (here[i] > 0) atomicMax(largest + column + i, here[i]);
  });
}

}  // namespace

Bytes health_workspace(const HealthSum& args) {
  const dim3 grid = health_shape(args.input).grid;
  const std::int64_t parts = std::int64_t{grid.x} * grid.y;
  return parts == 1 ? Bytes(0) : Bytes(parts * static_cast<std::int64_t>(sizeof(TensorHealth)));
}

void add_health(const HealthSum& args, cudaStream_t stream) {
  check(args.workspace.size >= health_workspace(args), "the workspace is as large as the op's workspace function says");
  const LaunchShape shape = health_shape(args.input);
  const auto count = static_cast<int>(shape.grid.x * shape.grid.y);
  auto* const parts = count == 1 ? nullptr : static_cast<TensorHealth*>(args.workspace.data);
  const auto kernel = takes_vectors(args.input) ? add_tensor_health<vector_elements> : add_tensor_health<1>;
  launch("add_health", shape, stream, kernel, args.input, parts, args.sum);
  if (count > 1) add_health_parts(parts, count, args.sum, stream);
}

void add_health_parts(const TensorHealth* parts, std::int64_t count, TensorHealth* sum, cudaStream_t stream) {
  launch("add_health of the parts", {.grid = dim3(1)}, stream, add_parts, parts, count, sum);
}

void fp8_scale(const Fp8Scale& args, cudaStream_t stream) {
  check(args.format == NumberFormat::fp8_e4m3 || args.format == NumberFormat::fp8_e5m2, "only fp8 has scales");
  const float largest_code = args.format == NumberFormat::fp8_e4m3 ? from_fp8_e4m3(0x7e) : from_fp8_e5m2(0x7b);
  const ConstTensorView& x = args.input;
  const bool is_vector = takes_vectors(x);
  if (args.of == ScaleOf::row)
    return launch("fp8_scale of rows", row_shape(x.rows), stream,
                  is_vector ? scale_rows<vector_elements> : scale_rows<1>, x, args.scale, largest_code);
  const std::int64_t count = scale_count(args.of, x.rows, x.columns);
  require_launched(cudaMemsetAsync(args.scale, 0, static_cast<std::size_t>(count) * sizeof(float), stream),
                   "fp8_scale");
  auto* const bits = reinterpret_cast<unsigned*>(args.scale);
  if (args.of == ScaleOf::column)
    launch("fp8_scale of columns", columns_shape(x, is_vector), stream,
           is_vector ? largest_of_columns<vector_elements> : largest_of_columns<1>, x, bits);
  else
    launch("fp8_scale", health_shape(x), stream, is_vector ? largest_bits<vector_elements> : largest_bits<1>, x, bits);
  launch("fp8_scale of the maxima", {.grid = dim3(blocks_for(count, block_threads))}, stream, scales_from_bits,
         args.scale, count, largest_code);
}

}  // namespace plumbline::cuda
