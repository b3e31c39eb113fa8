#pragma once
/// \file block_sum.h: one number from those of all threads of a block, in an order that is the same at every run.
///
/// Blocks have a multiple of 32 threads, at most 1024. All threads call, and all get the result.
/// Checked against: tests/kernels/cuda/norm_test.cpp.

#include "kernels/cuda/language.h"

namespace plumbline::cuda {

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
/// NaN where any is.
struct Maximum {
  __device__ float operator()(float a, float b) const { return a != a || a > b ? a : b; }
};

template <class T, class Combine>
static __device__ __forceinline__ T block_combine(T value, T neutral, Combine combine) {
  __shared__ T of_warp[lanes];
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(all_lanes, value, distance));
  const unsigned lane = threadIdx.x % lanes;
  __syncthreads();  // a combination before may still be read
  if (lane == 0) of_warp[threadIdx.x / lanes] = value;
  __syncthreads();
  value = lane < blockDim.x / lanes ? of_warp[lane] : neutral;
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(all_lanes, value, distance));
  return value;
}

template <class T>
static __device__ __forceinline__ T block_sum(T value) {
  return block_combine(value, T{0}, Sum{});
}
static __device__ __forceinline__ float block_maximum(float value) {
  return block_combine(value, -__uint_as_float(0x7f800000U), Maximum{});
}
template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(all_lanes, value, distance);
  return value;
}

}  // namespace plumbline::cuda
