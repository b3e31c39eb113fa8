#pragma once
/// \file vectors.h: eight elements of a row at a time: of 16 bits by one access of 128 bits, of fp32 by two, of fp8 by
/// one of 64.
///
/// Answers: whether views can be read so, and the numbers of elements.h. Model: kernels are templates of how many
/// elements a thread takes: 8, and the columns behind the last eight one by one, or 1, where a row of any of the views
/// begins in between. All threads of a kernel do the same. Checked against: tests/kernels/cuda/vectors_test.cpp.

#include <type_traits>

#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {

inline constexpr int vector_elements = 8;

/// Of one access. Its words stand for numbers of other types.
#ifdef __CUDACC__
struct alignas(16) Words4 {
  std::uint32_t word[4];
};
struct alignas(8) Words2 {
  std::uint32_t word[2];
};
#else
struct alignas(16) [[gnu::may_alias]] Words4 {
  std::uint32_t word[4];
};
struct alignas(8) [[gnu::may_alias]] Words2 {
  std::uint32_t word[2];
};
#endif

/// Whether all that are there (one row, or rows at such distances) can be read by eights. Scales of rows or columns
/// would cost every kernel registers.
template <class... Views>
[[nodiscard]] bool takes_vectors(const Views&... views) {
  const auto is_aligned = [](const ConstTensorView& view) {
    const std::int64_t size = bits(view.format) / 8;
    const std::int64_t unit = size == 1 ? sizeof(Words2) : sizeof(Words4);
    if (view.scale_of != ScaleOf::tensor) return false;
    return !view.is_there() || (reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(unit) == 0 &&
                                (view.rows <= 1 || view.stride * size % unit == 0));
  };
  return (is_aligned(views) && ...);
}

template <int N>
struct Numbers {
  float at[N];
};

__device__ __forceinline__ float half_of(std::uint32_t word, int which, NumberFormat format) {
  const auto half = static_cast<std::uint16_t>(word >> (16 * which));
  return format == NumberFormat::bf16 ? widen_bf16(half) : widen_fp16(half);
}
__device__ __forceinline__ std::uint32_t halves(float low, float high, NumberFormat format) {
  if (format == NumberFormat::bf16) return narrow_bf16(low) | static_cast<std::uint32_t>(narrow_bf16(high)) << 16;
  return narrow_fp16(low) | static_cast<std::uint32_t>(narrow_fp16(high)) << 16;
}
__device__ __forceinline__ float from_fp8(std::uint8_t code, NumberFormat format) {
  return format == NumberFormat::fp8_e4m3 ? from_fp8_e4m3(code) : from_fp8_e5m2(code);
}
__device__ __forceinline__ std::uint8_t to_fp8(float value, NumberFormat format) {
  return format == NumberFormat::fp8_e4m3 ? to_fp8_e4m3(value) : to_fp8_e5m2(value);
}

/// Of a view with one scale.
template <class Memory>
__device__ __forceinline__ float fp8_factor(const BasicTensorView<Memory>& view) {
  return view.scale != nullptr ? *view.scale : 1.0F;
}

/// Elements [column, column + 8) as fp32.
template <class Memory>
__device__ __forceinline__ Numbers<vector_elements> load_vector(const BasicTensorView<Memory>& view, std::int64_t row,
                                                                std::int64_t column) {
  const std::int64_t at = row * view.stride + column;
  Numbers<vector_elements> numbers;
  if (view.format == NumberFormat::bf16 || view.format == NumberFormat::fp16) {
    const auto words = *reinterpret_cast<const Words4*>(static_cast<const std::uint16_t*>(view.data) + at);
    PLUMBLINE_UNROLLED
    for (int i = 0; i < vector_elements; ++i) numbers.at[i] = half_of(words.word[i / 2], i % 2, view.format);
  } else if (view.format == NumberFormat::fp32 || view.format == NumberFormat::tf32) {
    PLUMBLINE_UNROLLED
    for (int half = 0; half < 2; ++half) {
      const auto words = *reinterpret_cast<const Words4*>(static_cast<const float*>(view.data) + at + half * 4);
      PLUMBLINE_UNROLLED
      for (int i = 0; i < 4; ++i) numbers.at[half * 4 + i] = __uint_as_float(words.word[i]);
    }
    PLUMBLINE_UNROLLED
    for (int i = 0; i < vector_elements; ++i)
      if (view.format == NumberFormat::tf32) numbers.at[i] = round_to_tf32(numbers.at[i]);
  } else {
    const auto words = *reinterpret_cast<const Words2*>(static_cast<const std::uint8_t*>(view.data) + at);
    const float factor = fp8_factor(view);
    PLUMBLINE_UNROLLED
    for (int i = 0; i < vector_elements; ++i)
      numbers.at[i] = from_fp8(static_cast<std::uint8_t>(words.word[i / 4] >> (i % 4 * 8)), view.format) * factor;
  }
  return numbers;
}

__device__ __forceinline__ void store_vector(const TensorView& view, std::int64_t row, std::int64_t column,
                                             const Numbers<vector_elements>& numbers) {
  const std::int64_t at = row * view.stride + column;
  if (view.format == NumberFormat::bf16 || view.format == NumberFormat::fp16) {
    Words4 words;
    PLUMBLINE_UNROLLED
    for (int i = 0; i < 4; ++i) words.word[i] = halves(numbers.at[2 * i], numbers.at[2 * i + 1], view.format);
    *reinterpret_cast<Words4*>(static_cast<std::uint16_t*>(view.data) + at) = words;
  } else if (view.format == NumberFormat::fp32 || view.format == NumberFormat::tf32) {
    PLUMBLINE_UNROLLED
    for (int half = 0; half < 2; ++half) {
      Words4 words;
      PLUMBLINE_UNROLLED
      for (int i = 0; i < 4; ++i) words.word[i] = __float_as_uint(numbers.at[half * 4 + i]);
      *reinterpret_cast<Words4*>(static_cast<float*>(view.data) + at + half * 4) = words;
    }
  } else {
    Words2 words = {};
    const float factor = fp8_factor(view);
    PLUMBLINE_UNROLLED
    for (int i = 0; i < vector_elements; ++i)
      words.word[i / 4] |= static_cast<std::uint32_t>(to_fp8(numbers.at[i] / factor, view.format)) << (i % 4 * 8);
    *reinterpret_cast<Words2*>(static_cast<std::uint8_t*>(view.data) + at) = words;
  }
}

template <int N, class Memory>
__device__ __forceinline__ Numbers<N> load_numbers(const BasicTensorView<Memory>& view, std::int64_t row,
                                                   std::int64_t column) {
  if constexpr (N == 1)
    return {{load(view, row, column)}};
  else
    return load_vector(view, row, column);
}
template <int N>
__device__ __forceinline__ void store_numbers(const TensorView& view, std::int64_t row, std::int64_t column,
                                              const Numbers<N>& numbers) {
  if constexpr (N == 1)
    store(view, row, column, numbers.at[0]);
  else
    store_vector(view, row, column, numbers);
}

/// How many elements a visit takes, as a type.
template <int N>
using Count = std::integral_constant<int, N>;

/// Calls visit(Count, column) for the columns of a row, over the `step` threads of which this is the `first`.
template <int N, class Visit>
__device__ __forceinline__ void for_each_group(std::int64_t columns, std::int64_t first, std::int64_t step,
                                               Visit visit) {
  const std::int64_t whole = columns / N * N;
  for (std::int64_t column = first * N; column < whole; column += step * N) visit(Count<N>{}, column);
  if constexpr (N > 1)
    for (std::int64_t column = whole + first; column < columns; column += step) visit(Count<1>{}, column);
}

/// Over all threads of a grid of `group_shape`: visit(Count, row, column).
template <int N, class Visit>
__device__ __forceinline__ void for_each_element_group(std::int64_t rows, std::int64_t columns, Visit visit) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y)
    for_each_group<N>(columns, first, step, [&](auto count, std::int64_t column) { visit(count, row, column); });
}

/// Over the threads of a block.
template <int N, class Visit>
__device__ __forceinline__ void for_each_column_group(std::int64_t columns, Visit visit) {
  for_each_group<N>(columns, threadIdx.x, blockDim.x, visit);
}

/// A launch of `wide` where the views take vectors, else of `narrow`.
template <class Args>
void launch_elements(const char* name, std::int64_t rows, std::int64_t columns, bool is_vector, cudaStream_t stream,
                     void (*wide)(Args), void (*narrow)(Args), const Args& args) {
  if (is_vector)
    launch(name, element_shape(rows, (columns + vector_elements - 1) / vector_elements), stream, wide, args);
  else
    launch(name, element_shape(rows, columns), stream, narrow, args);
}

}  // namespace plumbline::cuda
