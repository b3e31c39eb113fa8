#pragma once
/// \file tensor_view.h: what every kernel sees of a tensor: rows of numbers in one format, at a distance from each
/// other.
///
/// A view owns nothing. A tensor of more dimensions is seen as [product of the leading ones, last]: activations are
/// [batch * sequence, features], attention heads lie side by side in the features. Slices of rows or columns (tensor
/// parallelism, heads, fused projections) are views too.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/quantity/number_format.h"

namespace plumbline {

/// Whether an fp8 tensor has one scale, one for each row or one for each column.
enum class ScaleOf : std::uint8_t { tensor, row, column };

/// Elements of `Memory` (`void` or `const void`). Formats: fp32, tf32 (stored as fp32, rounded when read), fp16, bf16,
/// fp8_e4m3 and fp8_e5m2; the latter two stand for code * scale (one fp32 scale for the tensor, or one for each row or
/// column, one after another in the tensor's memory space; null: 1).
template <class Memory>
struct BasicTensorView {
  Memory* data = nullptr;
  NumberFormat format = NumberFormat::fp32;
  ScaleOf scale_of = ScaleOf::tensor;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  ///< elements from the begin of a row to that of the next
  const float* scale = nullptr;

  constexpr BasicTensorView() = default;
  constexpr BasicTensorView(Memory* memory, NumberFormat number, std::int64_t row_count, std::int64_t column_count,
                            std::int64_t row_distance, const float* scales = nullptr, ScaleOf of = ScaleOf::tensor)
      : data(memory),
        format(number),
        scale_of(of),
        rows(row_count),
        columns(column_count),
        stride(row_distance),
        scale(scales) {}

  using Byte = std::conditional_t<std::is_const_v<Memory>, const std::byte, std::byte>;

  [[nodiscard]] bool is_there() const { return data != nullptr; }
  [[nodiscard]] std::int64_t size() const { return rows * columns; }
  /// Which of the scales an element has.
  [[nodiscard]] constexpr std::int64_t scale_at(std::int64_t row, std::int64_t column) const {
    return scale_of == ScaleOf::tensor ? 0 : scale_of == ScaleOf::row ? row : column;
  }
  [[nodiscard]] const float* scale_from(std::int64_t row, std::int64_t column) const {
    return scale == nullptr ? nullptr : scale + scale_at(row, column);
  }
  /// Address of an element. Formats of whole bytes only.
  [[nodiscard]] Byte* at(std::int64_t row, std::int64_t column) const {
    return static_cast<Byte*>(data) + (row * stride + column) * (bits(format) / 8);
  }
  [[nodiscard]] BasicTensorView rows_from(std::int64_t first, std::int64_t count) const {
    return {at(first, 0), format, count, columns, stride, scale_from(first, 0), scale_of};
  }
  [[nodiscard]] BasicTensorView columns_from(std::int64_t first, std::int64_t count) const {
    return {at(0, first), format, rows, count, stride, scale_from(0, first), scale_of};
  }
  operator BasicTensorView<const void>() const requires(!std::is_const_v<Memory>) {
    return {data, format, rows, columns, stride, scale, scale_of};
  }
};

using TensorView = BasicTensorView<void>;
using ConstTensorView = BasicTensorView<const void>;

/// Rows that lie one after another.
[[nodiscard]] inline TensorView dense_view(void* data, NumberFormat format, std::int64_t rows, std::int64_t columns) {
  return {data, format, rows, columns, columns, nullptr};
}
[[nodiscard]] inline ConstTensorView dense_view(const void* data, NumberFormat format, std::int64_t rows,
                                                std::int64_t columns) {
  return {data, format, rows, columns, columns, nullptr};
}

/// Scratch memory that the caller planned: at least as many bytes as the op's `..._workspace` function answers, aligned
/// to 64 bytes. Its content before and after a call means nothing.
struct Workspace {
  void* data = nullptr;
  Bytes size{0};
};

/// Whether an op overwrites its gradient or adds to it (fp32 sum, one rounding to the buffer's format).
enum class Write : std::uint8_t { overwrite, accumulate };

/// Where a rank's rows are in the whole: row r of a view is row `first + r % per_sequence` of sequence
/// `first_sequence + r / per_sequence`, and the whole has `whole_sequence` rows in each sequence. Ranks that hold a
/// slice of the sequence (sequence and context parallelism) differ in `first`, data-parallel ones in `first_sequence`.
struct RowPlace {
  std::int64_t per_sequence = 1;
  std::int64_t first = 0;
  std::int64_t whole_sequence = 1;
  std::int64_t first_sequence = 0;

  [[nodiscard]] std::int64_t position(std::int64_t row) const { return first + row % per_sequence; }
  [[nodiscard]] std::int64_t whole_row(std::int64_t row) const {
    return (first_sequence + row / per_sequence) * whole_sequence + position(row);
  }
};

}  // namespace plumbline
