#pragma once
/// \file chunk.h: how the reference kernels read and write any format: a few hundred elements at a time, as fp32.
///
/// Kernels compute on chunks in fp32 on the stack, so each is written once and rounds once, when it stores.

#include <algorithm>
#include <cstdint>

#include "kernels/tensor_view.h"

namespace plumbline::reference {

/// Elements that fit the first-level cache several times over; a multiple of every vector length.
inline constexpr std::int64_t chunk_size = 512;

struct alignas(64) Chunk {
  float values[chunk_size];
};

/// The elements [column, column + count) of a row as fp32: in place when they are stored so, else in `chunk`.
const float* load(const ConstTensorView& view, std::int64_t row, std::int64_t column, std::int64_t count, Chunk& chunk);
/// The same for counts of any length, always copied to `target`.
void load_to(const ConstTensorView& view, std::int64_t row, std::int64_t column, std::int64_t count, float* target);
/// Rounds to the view's format.
void store(const TensorView& view, std::int64_t row, std::int64_t column, std::int64_t count, const float* values);
/// Stores or adds to what is there (the sum in fp32, then one rounding).
void store(const TensorView& view, std::int64_t row, std::int64_t column, std::int64_t count, const float* values,
           Write write);

[[nodiscard]] float load_one(const ConstTensorView& view, std::int64_t row, std::int64_t column);
void store_one(const TensorView& view, std::int64_t row, std::int64_t column, float value);

/// Calls action(begin, count) for consecutive chunks of `columns`.
template <class Action>
void for_each_chunk(std::int64_t columns, Action action) {
  for (std::int64_t begin = 0; begin < columns; begin += chunk_size)
    action(begin, std::min(chunk_size, columns - begin));
}

/// Throws InternalError unless both are there and have one shape.
void check_same_shape(const ConstTensorView& a, const ConstTensorView& b);

}  // namespace plumbline::reference
