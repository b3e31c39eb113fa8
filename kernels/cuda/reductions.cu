#include <cfloat>
#include <cmath>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

constexpr unsigned infinity_bits = 0x7f800000U;
constexpr unsigned whole_block = 1024;

/// Magnitudes of fp32 numbers order as their bits do, infinity above all numbers and NaNs above infinity.
__device__ __forceinline__ unsigned magnitude_bits(float value) { return __float_as_uint(value) & 0x7fffffffU; }

/// One block, so that the sum has one order without scratch memory.
__global__ void __launch_bounds__(whole_block) add_tensor_health(ConstTensorView input, TensorHealth* total) {
  double squares = 0;
  unsigned largest = 0;
  for (std::int64_t row = 0; row < input.rows; ++row)
    for_each_column(input.columns, [&](std::int64_t column) {
      const float x = load(input, row, column);
      squares += static_cast<double>(x) * static_cast<double>(x);
      if (magnitude_bits(x) > largest) largest = magnitude_bits(x);
    });
  squares = block_sum(squares);
  const int non_finite = block_sum(largest >= infinity_bits ? 1 : 0);
  if (threadIdx.x != 0) return;
  total->sum_of_squares += squares;
  if (non_finite != 0) total->has_non_finite = 1;
}

/// The maximum of bits does not depend on the order, so blocks may meet in one atomic operation.
__global__ void __launch_bounds__(block_threads) largest_bits(ConstTensorView input, unsigned* largest) {
  unsigned here = 0;
  for_each_element(input.rows, input.columns, [&](std::int64_t row, std::int64_t column) {
    const unsigned bits = magnitude_bits(load(input, row, column));
    if (bits > here) here = bits;
  });
  if (here > 0) atomicMax(largest, here);
}

__global__ void scale_from_bits(float* scale, float largest_code) {
  const float amax = *scale;
  const float result = amax / largest_code;
  // A scale that is not a normal number would lose digits of every element.
  *scale = magnitude_bits(amax) < infinity_bits && result >= FLT_MIN ? result : 1.0F;
}

}  // namespace

void add_health(const ConstTensorView& input, TensorHealth* sum, cudaStream_t stream) {
  launch("add_health", {.grid = dim3(1), .block = dim3(whole_block)}, stream, add_tensor_health, input, sum);
}

void fp8_scale(const Fp8Scale& args, cudaStream_t stream) {
  check(args.format == NumberFormat::fp8_e4m3 || args.format == NumberFormat::fp8_e5m2,
        "only fp8 has a scale per tensor");
  const float largest_code = args.format == NumberFormat::fp8_e4m3 ? from_fp8_e4m3(0x7e) : from_fp8_e5m2(0x7b);
  require_launched(cudaMemsetAsync(args.scale, 0, sizeof(float), stream), "fp8_scale");
  launch("fp8_scale", element_shape(args.input.rows, args.input.columns), stream, largest_bits, args.input,
         reinterpret_cast<unsigned*>(args.scale));
  launch("fp8_scale of the maximum", {.grid = dim3(1), .block = dim3(1)}, stream, scale_from_bits, args.scale,
         largest_code);
}

}  // namespace plumbline::cuda
