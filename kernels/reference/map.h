#pragma once
/// \file map.h: loops over tensors of one shape, chunk by chunk in fp32.

#include "kernels/reference/chunk.h"

namespace plumbline::reference {

/// output = function(a), element by element; output may be a.
template <class Function>
void map(const ConstTensorView& a, const TensorView& output, Function function) {
  check_same_shape(a, output);
  for (std::int64_t row = 0; row < a.rows; ++row)
    for_each_chunk(a.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk in;
      Chunk out;
      const float* x = load(a, row, begin, count, in);
      for (std::int64_t i = 0; i < count; ++i) out.values[i] = function(x[i]);
      store(output, row, begin, count, out.values);
    });
}

/// output = function(a, b), element by element; output may be a or b.
template <class Function>
void map(const ConstTensorView& a, const ConstTensorView& b, const TensorView& output, Function function) {
  check_same_shape(a, b);
  check_same_shape(a, output);
  for (std::int64_t row = 0; row < a.rows; ++row)
    for_each_chunk(a.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk first;
      Chunk second;
      Chunk out;
      const float* x = load(a, row, begin, count, first);
      const float* y = load(b, row, begin, count, second);
      for (std::int64_t i = 0; i < count; ++i) out.values[i] = function(x[i], y[i]);
      store(output, row, begin, count, out.values);
    });
}

}  // namespace plumbline::reference
