#pragma once
/// \file cuda_runtime.h: the language of kernels for g++: a .cu file compiles as C++ with this header (-x c++).
///
/// Answers: qualifiers, built-in variables, barriers, shuffles, votes, atomics, the intrinsic functions that this
/// project uses, and launches by cudaLaunchKernelEx. What PTX does in a few functions of kernels/cuda is in
/// tests/cuda_on_cpu/tensor_core.h. Kernels and functions with shared memory have internal linkage (an unnamed
/// namespace or static), since shared variables lie in one section that is filled with NaNs when a block begins. Not
/// modelled: launches by <<< >>>, textures, extern __shared__ (see dynamic_shared in kernels/cuda/language.h), inline
/// PTX, the rounding of fast intrinsics (they are exact here).
/// Checked against: tests/cuda_on_cpu/thread_block_test.cpp.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <typeinfo>

#include "tests/cuda_on_cpu/tensor_core.h"
#include "tests/cuda_on_cpu/thread_block.h"

#undef __forceinline__
#undef __align__
#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("cuda_shared")))

// Of the thread that runs; one kernel runs at a time.
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
inline constexpr int warpSize = 32;

inline void __syncthreads(cuda_on_cpu::Here here = cuda_on_cpu::Here::current()) { cuda_on_cpu::block_barrier(here); }

inline void __syncwarp(unsigned mask = 0xffffffffU, cuda_on_cpu::Here here = cuda_on_cpu::Here::current()) {
  cuda_on_cpu::warp_exchange(mask, cuda_on_cpu::WarpMeeting::barrier, nullptr, 0, here);
}

namespace cuda_on_cpu {
/// The value that a lane brought, its own where `from` is outside of the group of `width` lanes.
template <class T>
T shuffled(unsigned mask, T value, int from, int width, Here here) {
  const std::byte* slots = warp_exchange(mask, WarpMeeting::shuffle, &value, sizeof value, here);
  const int lane = static_cast<int>(current_lane());
  if (from < 0 || from / width != lane / width) return value;
  if ((mask >> from & 1U) == 0) throw ExecutionError(cudaErrorLaunchFailure, "a shuffle reads a lane outside its mask");
  return from_lane<T>(slots, static_cast<unsigned>(from));
}
}  // namespace cuda_on_cpu

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32, cuda_on_cpu::Here here = cuda_on_cpu::Here::current()) {
  const int lane = static_cast<int>(cuda_on_cpu::current_lane());
  return cuda_on_cpu::shuffled(mask, value, (lane & ~(width - 1)) | (from & (width - 1)), width, here);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32,
                  cuda_on_cpu::Here here = cuda_on_cpu::Here::current()) {
  return cuda_on_cpu::shuffled(mask, value, static_cast<int>(cuda_on_cpu::current_lane()) ^ bits, width, here);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32,
                   cuda_on_cpu::Here here = cuda_on_cpu::Here::current()) {
  const int lane = static_cast<int>(cuda_on_cpu::current_lane());
  return cuda_on_cpu::shuffled(mask, value, lane + static_cast<int>(by), width, here);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32,
                 cuda_on_cpu::Here here = cuda_on_cpu::Here::current()) {
  const int lane = static_cast<int>(cuda_on_cpu::current_lane());
  return cuda_on_cpu::shuffled(mask, value, lane - static_cast<int>(by), width, here);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, cuda_on_cpu::Here here = cuda_on_cpu::Here::current()) {
  using namespace cuda_on_cpu;
  const std::byte* slots = warp_exchange(mask, WarpMeeting::vote, &predicate, sizeof predicate, here);
  unsigned result = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1U) != 0 && from_lane<int>(slots, lane) != 0) result |= 1U << lane;
  return result;
}
inline int __any_sync(unsigned mask, int predicate, cuda_on_cpu::Here here = cuda_on_cpu::Here::current()) {
  return __ballot_sync(mask, predicate, here) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate, cuda_on_cpu::Here here = cuda_on_cpu::Here::current()) {
  return __ballot_sync(mask, predicate, here) == mask ? 1 : 0;
}

namespace cuda_on_cpu {
/// Of the device, as control.h answers it.
void count_atomic_operation();
}  // namespace cuda_on_cpu

// Fibers give way only where they wait, so plain operations are atomic.
template <class T>
T atomicAdd(T* to, T value) {
  cuda_on_cpu::count_atomic_operation();
  const T old = *to;
  *to = old + value;
  return old;
}
template <class T>
T atomicMax(T* to, T value) {
  cuda_on_cpu::count_atomic_operation();
  const T old = *to;
  *to = std::max(old, value);
  return old;
}
template <class T>
T atomicOr(T* to, T value) {
  cuda_on_cpu::count_atomic_operation();
  const T old = *to;
  *to = old | value;
  return old;
}
inline void __threadfence() {}

inline int __popc(unsigned value) { return std::popcount(value); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned value) { return std::bit_cast<float>(value); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float rsqrtf(float value) { return 1.0F / std::sqrt(value); }

namespace cuda_on_cpu {
/// `arguments`: the kernel's, as control.h counts them.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, const char* arguments,
                   std::function<void()> body);
cudaError_t allow_dynamic_shared_memory(const void* kernel, int bytes);
}  // namespace cuda_on_cpu

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... arguments) {
  static_assert((std::size_t{0} + ... + sizeof(P)) <= 4096, "a kernel takes at most 4 KiB of arguments");
  return cuda_on_cpu::launch(
      *config, reinterpret_cast<const void*>(kernel), typeid(void(P...)).name(),
      [kernel, copies = std::tuple<P...>(static_cast<P>(arguments)...)] { std::apply(kernel, copies); });
}

template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaErrorInvalidValue;
  return cuda_on_cpu::allow_dynamic_shared_memory(reinterpret_cast<const void*>(kernel), value);
}
