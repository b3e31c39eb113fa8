#pragma once
/// \file elements.h: single elements of tensors of any format, as fp32, in kernels.
///
/// Answers: the same numbers as kernels/number_conversion.h, except that a NaN may have another pattern. Model: the
/// format is an argument of the kernel, so all threads take the same branch. Stored numbers are rounded once to the
/// nearest, ties to even; fp8 saturates and carries its scale.
/// Source: CUDA Math API, conversions of half and bfloat16. Checked against: tests/kernels/cuda/elementwise_test.cpp.

#include "kernels/cuda/language.h"
#include "kernels/number_conversion.h"
#include "kernels/tensor_view.h"
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace plumbline::cuda {

__device__ __forceinline__ float widen_fp16(std::uint16_t word) {
#ifdef __CUDACC__
  return __half2float(__ushort_as_half(word));
#else
  return from_fp16(word);
#endif
}

__device__ __forceinline__ std::uint16_t narrow_fp16(float value) {
#ifdef __CUDACC__
  return __half_as_ushort(__float2half_rn(value));
#else
  return to_fp16(value);
#endif
}

__device__ __forceinline__ float widen_bf16(std::uint16_t word) {
  return __uint_as_float(static_cast<unsigned>(word) << 16);
}

__device__ __forceinline__ std::uint16_t narrow_bf16(float value) {
#ifdef __CUDACC__
  return __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
  return to_bf16(value);
#endif
}

template <class Memory>
__device__ __forceinline__ float fp8_factor(const BasicTensorView<Memory>& view, std::int64_t row,
                                            std::int64_t column) {
  return view.scale != nullptr ? view.scale[view.scale_at(row, column)] : 1.0F;
}

template <class Memory>
__device__ __forceinline__ float load(const BasicTensorView<Memory>& view, std::int64_t row, std::int64_t column) {
  const std::int64_t at = row * view.stride + column;
  switch (view.format) {
    case NumberFormat::fp32: return static_cast<const float*>(view.data)[at];
    case NumberFormat::tf32: return round_to_tf32(static_cast<const float*>(view.data)[at]);
    case NumberFormat::fp16: return widen_fp16(static_cast<const std::uint16_t*>(view.data)[at]);
    case NumberFormat::bf16: return widen_bf16(static_cast<const std::uint16_t*>(view.data)[at]);
    case NumberFormat::fp8_e4m3:
      return from_fp8_e4m3(static_cast<const std::uint8_t*>(view.data)[at]) * fp8_factor(view, row, column);
    case NumberFormat::fp8_e5m2:
      return from_fp8_e5m2(static_cast<const std::uint8_t*>(view.data)[at]) * fp8_factor(view, row, column);
    default: return 0.0F;
  }
}

__device__ __forceinline__ void store(const TensorView& view, std::int64_t row, std::int64_t column, float value) {
  const std::int64_t at = row * view.stride + column;
  switch (view.format) {
    case NumberFormat::fp32:
    case NumberFormat::tf32: static_cast<float*>(view.data)[at] = value; return;
    case NumberFormat::fp16: static_cast<std::uint16_t*>(view.data)[at] = narrow_fp16(value); return;
    case NumberFormat::bf16: static_cast<std::uint16_t*>(view.data)[at] = narrow_bf16(value); return;
    case NumberFormat::fp8_e4m3:
      static_cast<std::uint8_t*>(view.data)[at] = to_fp8_e4m3(value / fp8_factor(view, row, column));
      return;
    case NumberFormat::fp8_e5m2:
      static_cast<std::uint8_t*>(view.data)[at] = to_fp8_e5m2(value / fp8_factor(view, row, column));
      return;
    default: return;
  }
}

__device__ __forceinline__ void store(const TensorView& view, std::int64_t row, std::int64_t column, float value,
                                      Write write) {
  store(view, row, column, write == Write::accumulate ? load(view, row, column) + value : value);
}

/// Calls visit(row, column) for each element once, over all threads of a grid of `element_shape`.
template <class Visit>
__device__ __forceinline__ void for_each_element(std::int64_t rows, std::int64_t columns, Visit visit) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y)
    for (std::int64_t column = first; column < columns; column += step) visit(row, column);
}

/// Calls visit(column) for each column once, over the threads of a block.
template <class Visit>
__device__ __forceinline__ void for_each_column(std::int64_t columns, Visit visit) {
  for (std::int64_t column = threadIdx.x; column < columns; column += blockDim.x) visit(column);
}

/// As RowPlace's functions of these names.
__device__ __forceinline__ std::int64_t position_of(const RowPlace& place, std::int64_t row) {
  return place.first + row % place.per_sequence;
}
__device__ __forceinline__ std::int64_t whole_row_of(const RowPlace& place, std::int64_t row) {
  return (place.first_sequence + row / place.per_sequence) * place.whole_sequence + position_of(place, row);
}

}  // namespace plumbline::cuda
