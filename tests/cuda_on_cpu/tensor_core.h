#pragma once
/// \file tensor_core.h: mma.sync and ldmatrix, carried out by the lanes of a warp of fibers.
///
/// Answers: d += a b for a 16x16 by rows and b 16x8 by columns of 16-bit numbers, with fp32 sums; four 8x8 matrices of
/// 16-bit numbers from shared memory. Source: PTX ISA 9.0, "Matrix fragments for mma.m16n8k16" and "ldmatrix".
/// Not modelled: the order and width in which tensor cores sum.
/// Checked against: tests/cuda_on_cpu/tensor_core_test.cpp.

#include <cstdint>

#include "tests/cuda_on_cpu/thread_block.h"

namespace cuda_on_cpu {

enum class Half : std::uint8_t { fp16, bf16 };

void mma_m16n8k16(Half format, float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], Here here);

/// Lane 8 i + r brings the address of row r of matrix i, aligned to 16 bytes.
void load_matrix_x4(bool is_transposed, std::uint32_t (&to)[4], const void* row, Here here);

}  // namespace cuda_on_cpu
