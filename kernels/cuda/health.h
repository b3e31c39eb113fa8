#pragma once
/// \file health.h: the sum of squares of what a block's threads read, and whether all of it is finite.
///
/// Model: squares are added in double precision in a fixed order. Checked against:
/// tests/kernels/cuda/elementwise_test.cpp, tests/kernels/cuda/tensors_together_test.cpp.

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/vectors.h"
#include "kernels/reductions.h"

namespace plumbline::cuda {

inline constexpr unsigned infinity_bits = 0x7f800000U;

/// Magnitudes of fp32 numbers order as their bits do, infinity above all numbers and NaNs above infinity.
__device__ __forceinline__ unsigned magnitude_bits(float value) { return __float_as_uint(value) & 0x7fffffffU; }

/// Of one thread.
struct HealthOfThread {
  double squares = 0;
  unsigned largest = 0;

  template <int N>
  __device__ __forceinline__ void add(const Numbers<N>& x) {
    PLUMBLINE_UNROLLED
    for (int i = 0; i < N; ++i) {
      squares += static_cast<double>(x.at[i]) * static_cast<double>(x.at[i]);
      if (magnitude_bits(x.at[i]) > largest) largest = magnitude_bits(x.at[i]);
    }
  }
  /// Of the block, whose threads all call it.
  __device__ __forceinline__ TensorHealth of_block() {
    const double sum = block_sum(squares);
    const int non_finite = block_sum(largest >= infinity_bits ? 1 : 0);
    return {sum, non_finite != 0 ? 1 : 0};
  }
  __device__ __forceinline__ void write(TensorHealth* part) {
    const TensorHealth health = of_block();
    if (threadIdx.x == 0) *part = health;
  }
};

/// sum += parts, in a fixed order. In the device's memory, all of them.
void add_health_parts(const TensorHealth* parts, std::int64_t count, TensorHealth* sum, cudaStream_t stream);

}  // namespace plumbline::cuda
