#pragma once
/// \file column_sum.h: sums over rows, one per column: gradients of biases and of the norms' weights.

#include "kernels/reference/chunk.h"

namespace plumbline::reference {

/// target [1, columns] = or += the sum over rows of what add(row, begin, count, sums) adds to sums[0, count). Sums are
/// kept in double precision, so that thousands of tokens cost no digits, and rounded once.
template <class Add>
void column_sums(const TensorView& target, std::int64_t rows, Write write, Add add) {
  for_each_chunk(target.columns, [&](std::int64_t begin, std::int64_t count) {
    alignas(64) double sums[chunk_size] = {};
    for (std::int64_t row = 0; row < rows; ++row) add(row, begin, count, sums);
    if (write == Write::accumulate) {
      Chunk chunk;
      const float* old = load(target, 0, begin, count, chunk);
      for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(old[i]);
    }
    Chunk rounded;
    for (std::int64_t i = 0; i < count; ++i) rounded.values[i] = static_cast<float>(sums[i]);
    store(target, 0, begin, count, rounded.values);
  });
}

}  // namespace plumbline::reference
