#pragma once
/// \file attention_rows.h: what the straightforward attention kernels share: a block for a query or a key of a head.
///
/// Blocks have 128 threads and take that many keys (or queries) at a time, each thread one. Grids are [query or key,
/// head, sequence]. Checked against: tests/kernels/cuda/attention_test.cpp.

#include <cmath>

#include "kernels/attention.h"
#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/dropout_factor.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {

inline constexpr int attention_threads = 128;
/// Blocks that share a multiprocessor at least: without a number the compiler wants more, and spills registers for it.
inline constexpr int attention_blocks = 4;

[[nodiscard]] inline LaunchShape attention_rows_shape(std::int64_t rows, std::int64_t heads, std::int64_t batch,
                                                      std::int64_t shared_floats) {
  return {.grid = dim3(static_cast<unsigned>(rows), static_cast<unsigned>(heads), static_cast<unsigned>(batch)),
          .block = dim3(attention_threads),
          .dynamic_shared = static_cast<std::size_t>(shared_floats) * sizeof(float)};
}

void check_attention(const AttentionShape& shape, const ConstTensorView& query, const ConstTensorView& key,
                     const ConstTensorView& value, const ConstTensorView& output);

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

__device__ __forceinline__ std::int64_t clamped(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value < low ? low : (value > high ? high : value);
}

/// The keys of this call that a query of it sees.
__device__ __forceinline__ Range seen_keys(const AttentionShape& s, std::int64_t query) {
  if (s.mask == Mask::none) return {0, s.keys};
  const std::int64_t behind = s.first_query + query + 1 - s.first_key;
  const std::int64_t end = clamped(behind, 0, s.keys);
  return {s.window == 0 ? 0 : clamped(behind - s.window, 0, end), end};
}

/// The queries of this call that see a key of it.
__device__ __forceinline__ Range seeing_queries(const AttentionShape& s, std::int64_t key) {
  if (s.mask == Mask::none) return {0, s.queries};
  const std::int64_t same = s.first_key + key - s.first_query;
  const std::int64_t begin = clamped(same, 0, s.queries);
  return {begin, s.window == 0 ? s.queries : clamped(same + s.window, begin, s.queries)};
}

/// A head of a sequence, and the head of keys that it uses.
struct AttentionPlace {
  std::int64_t sequence = 0;
  std::int64_t head = 0;
  std::int64_t kv_head = 0;
};

/// Of a block for a query. In 32 bits, which heads fit: a division of 64 bits is a call, around which registers spill.
__device__ __forceinline__ AttentionPlace place_of_block(const AttentionShape& s) {
  return {blockIdx.z, blockIdx.y, blockIdx.y * static_cast<unsigned>(s.kv_heads) / static_cast<unsigned>(s.heads)};
}

__device__ __forceinline__ std::int64_t query_row(const AttentionShape& s, const AttentionPlace& at,
                                                  std::int64_t query) {
  return at.sequence * s.queries + query;
}
__device__ __forceinline__ std::int64_t key_row(const AttentionShape& s, const AttentionPlace& at, std::int64_t key) {
  return at.sequence * s.keys + key;
}
/// Of tensors [batch, heads, queries].
__device__ __forceinline__ std::int64_t score_row(const AttentionShape& s, const AttentionPlace& at,
                                                  std::int64_t query) {
  return (at.sequence * s.heads + at.head) * s.queries + query;
}

/// Which probabilities are dropped; without dropout none is drawn.
struct ProbabilityDropout {
  AttentionDropout place;
  DropoutLaw law;
};
[[nodiscard]] inline ProbabilityDropout probability_dropout(const AttentionDropout& dropout) {
  return {dropout, dropout_law(dropout.draw)};
}

__device__ __forceinline__ float probability_factor(const ProbabilityDropout& dropout, const AttentionShape& s,
                                                    const AttentionPlace& at, std::int64_t query, std::int64_t key) {
  const AttentionDropout& place = dropout.place;
  if (place.draw.probability == 0.0F) return 1.0F;
  const std::int64_t row = (place.first_sequence + at.sequence) * place.whole_heads + place.first_head + at.head;
  const std::int64_t element =
      (row * place.whole_positions + s.first_query + query) * place.whole_positions + s.first_key + key;
  return dropout_factor(dropout.law, static_cast<std::uint64_t>(element));
}

/// Elements [column, column + width) of a row into shared memory, by all threads; a barrier follows in the caller.
__device__ __forceinline__ void load_row(float* to, const ConstTensorView& from, std::int64_t row, std::int64_t column,
                                         std::int64_t width) {
  for_each_column(width, [&](std::int64_t i) { to[i] = load(from, row, column + i); });
}

/// sum of a[i] * b[row, column + i].
__device__ __forceinline__ float dot_with(const float* a, const ConstTensorView& b, std::int64_t row,
                                          std::int64_t column, std::int64_t width) {
  float sum = 0;
  PLUMBLINE_ROLLED
  for (std::int64_t i = 0; i < width; ++i) sum += a[i] * load(b, row, column + i);
  return sum;
}

}  // namespace plumbline::cuda
