#pragma once
/// \file language.h: what the kernels of this folder are written in: CUDA C++, compiled by nvcc for a GPU or by g++ for
/// the CPU (<cuda_runtime.h> is then the tests' own).
///
/// Functions with shared variables are static, so that each has its own in every translation unit.
/// Checked against: tests/kernels/cuda/elementwise_test.cpp.

#include <cuda_runtime.h>

#include <cstdint>

namespace plumbline::cuda {

/// Before a loop that is not to be unrolled: copies of a body that reads any format cost registers.
#ifdef __CUDACC__
#define PLUMBLINE_ROLLED _Pragma("unroll 1")
#else
#define PLUMBLINE_ROLLED
#endif
/// Before a loop over an array that is to stay in registers: with an index that is not known when compiling it would
/// lie in local memory.
#ifdef __CUDACC__
#define PLUMBLINE_UNROLLED _Pragma("unroll")
#else
#define PLUMBLINE_UNROLLED
#endif

inline constexpr unsigned all_lanes = 0xffffffffU;
inline constexpr int lanes = 32;

/// The dynamic shared memory of the block, aligned to 16 bytes.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
#ifdef __CUDACC__
  extern __shared__ __align__(16) unsigned char plumbline_dynamic_shared[];
  return reinterpret_cast<T*>(plumbline_dynamic_shared);
#else
  return reinterpret_cast<T*>(cuda_on_cpu::dynamic_shared_memory());
#endif
}

}  // namespace plumbline::cuda
