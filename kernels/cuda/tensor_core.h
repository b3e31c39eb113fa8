#pragma once
/// \file tensor_core.h: the few instructions of PTX that the fast kernels need, as functions of a warp.
///
/// Answers: products of 16x16 by 16x8 matrices of 16-bit numbers with fp32 sums (mma.m16n8k16), loads of four 8x8
/// matrices from shared memory (ldmatrix), copies of 16 bytes from global to shared memory that go on by themselves
/// (cp.async). All from sm_80. Source: PTX ISA 9.0, sections "mma", "ldmatrix", "cp.async".
/// Checked against: tests/kernels/cuda/flash_attention_test.cpp, tests/cuda_on_cpu/tensor_core_test.cpp.

#include "kernels/cuda/elements.h"

namespace plumbline::cuda {

/// A lane's part of an operand or a sum. a: rows g and g + 8, columns 2t and 2t + 8 of 16x16 (g = lane / 4, t = lane %
/// 4); b: rows 2t and 2t + 8 of column g; sums: rows g and g + 8, columns 2t and 2t + 1.
using FragmentA = std::uint32_t[4];
using FragmentB = std::uint32_t[2];
using FragmentSum = float[4];

template <NumberFormat format>
__device__ __forceinline__ void multiply_add(FragmentSum& sum, const FragmentA& a, const FragmentB& b) {
  static_assert(format == NumberFormat::bf16 || format == NumberFormat::fp16);
#ifdef __CUDACC__
  if constexpr (format == NumberFormat::bf16)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  constexpr cuda_on_cpu::Half half = format == NumberFormat::bf16 ? cuda_on_cpu::Half::bf16 : cuda_on_cpu::Half::fp16;
  cuda_on_cpu::mma_m16n8k16(half, sum, a, b, cuda_on_cpu::Here::current());
#endif
}

/// Lane 8 i + r brings the address of row r of matrix i: 8 numbers, aligned to 16 bytes.
template <bool IsTransposed>
__device__ __forceinline__ void load_matrices(FragmentA& to, const std::uint16_t* row) {
#ifdef __CUDACC__
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (IsTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
#else
  cuda_on_cpu::load_matrix_x4(IsTransposed, to, row, cuda_on_cpu::Here::current());
#endif
}

/// 16 bytes, aligned to 16 on both sides; zeros where `is_there` is false, and nothing is read then.
__device__ __forceinline__ void copy_async(std::uint16_t* to, const std::uint16_t* from, bool is_there) {
#ifdef __CUDACC__
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(is_there ? 16 : 0)
               : "memory");
#else
  static const std::uint16_t zeros[8] = {};
  cuda_on_cpu::async_copy(to, is_there ? from : zeros, 16);
#endif
}

/// Ends a group of copies.
__device__ __forceinline__ void commit_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  cuda_on_cpu::commit_async_copies();
#endif
}

/// Until at most the latest `Left` groups of this thread's copies are under way. A barrier shows them to other threads.
template <int Left>
__device__ __forceinline__ void wait_for_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
#else
  cuda_on_cpu::wait_for_async_copies(Left);
#endif
}

/// Two numbers as fragments hold them, the first in the low half.
template <NumberFormat format>
__device__ __forceinline__ std::uint32_t pack(float first, float second) {
  if constexpr (format == NumberFormat::bf16)
    return narrow_bf16(first) | static_cast<std::uint32_t>(narrow_bf16(second)) << 16;
  else
    return narrow_fp16(first) | static_cast<std::uint32_t>(narrow_fp16(second)) << 16;
}

}  // namespace plumbline::cuda
