#pragma once
/// \file flash_tiles.h: tiles of 16-bit rows in shared memory, and the two products that FlashAttention makes of them.
///
/// Model: blocks of four warps; a warp has 16 rows of what it computes. Tiles have `Width` columns and a gap behind
/// each row, so that a column's rows lie in different banks. Checked against:
/// tests/kernels/cuda/flash_attention_test.cpp.

#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/tensor_core.h"

namespace plumbline::cuda {

inline constexpr int flash_tile = 64;  ///< rows that a block takes
inline constexpr int flash_warps = 4;
inline constexpr int flash_threads = flash_warps * lanes;
inline constexpr int flash_gap = 8;
inline constexpr float log2_e = 1.44269504F;
static_assert(flash_tile / flash_warps == 16);

/// A head's rows of a tensor.
struct HeadRows {
  const std::uint16_t* first = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 0;
};

__device__ __forceinline__ HeadRows head_rows(const ConstTensorView& view, std::int64_t first_row, std::int64_t rows,
                                              std::int64_t column) {
  return {static_cast<const std::uint16_t*>(view.data) + first_row * view.stride + column, view.stride, rows};
}

/// Copies rows [first, first + Rows), zeros behind the last.
template <int Width, int Rows = flash_tile>
__device__ __forceinline__ void copy_rows(std::uint16_t* to, const HeadRows& from, std::int64_t first) {
  constexpr int parts = Width / 8;
  for (int i = static_cast<int>(threadIdx.x); i < Rows * parts; i += flash_threads) {
    const int row = i / parts;
    const int column = i % parts * 8;
    const bool is_there = first + row < from.count;
    const std::int64_t at = is_there ? (first + row) * from.stride + column : 0;
    copy_async(to + row * (Width + flash_gap) + column, from.first + at, is_there);
  }
}

/// Rows [row, row + 16) and columns [column, column + 16) of a tile, as a left operand.
template <int Width>
__device__ __forceinline__ void load_left(FragmentA& to, const std::uint16_t* tile, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  load_matrices<false>(to, tile + (row + lane % 16) * (Width + flash_gap) + column + lane / 16 * 8);
}

/// products [16, Rows] += left [16, 16] right^T of columns [column, column + 16) of a tile of `Rows` rows.
template <int Width, int Rows, NumberFormat format>
__device__ __forceinline__ void multiply_rows_of(FragmentSum (&products)[Rows / 8], const FragmentA& left,
                                                 const std::uint16_t* right, int column) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (int j = 0; j < Rows / 16; ++j) {
    FragmentA loaded;  // rows 16 j to 16 j + 15
    load_matrices<false>(loaded,
                         right + (j * 16 + lane % 8 + lane / 16 * 8) * (Width + flash_gap) + column + lane / 8 % 2 * 8);
    const FragmentB low = {loaded[0], loaded[1]};
    const FragmentB high = {loaded[2], loaded[3]};
    multiply_add<format>(products[2 * j], left, low);
    multiply_add<format>(products[2 * j + 1], left, high);
  }
}

/// sums [16, Width] += factors [16, Rows], rounded to the format, times a tile of `Rows` rows.
template <int Width, int Rows, NumberFormat format>
__device__ __forceinline__ void add_weighted_rows(FragmentSum (&sums)[Width / 8],
                                                  const FragmentSum (&factors)[Rows / 8], const std::uint16_t* rows) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (int j = 0; j < Rows / 16; ++j) {
    const FragmentA left = {pack<format>(factors[2 * j][0], factors[2 * j][1]),
                            pack<format>(factors[2 * j][2], factors[2 * j][3]),
                            pack<format>(factors[2 * j + 1][0], factors[2 * j + 1][1]),
                            pack<format>(factors[2 * j + 1][2], factors[2 * j + 1][3])};
    for (int c = 0; c < Width / 16; ++c) {
      FragmentA loaded;
      load_matrices<true>(loaded, rows + (j * 16 + lane % 16) * (Width + flash_gap) + c * 16 + lane / 16 * 8);
      const FragmentB low = {loaded[0], loaded[1]};
      const FragmentB high = {loaded[2], loaded[3]};
      multiply_add<format>(sums[2 * c], left, low);
      multiply_add<format>(sums[2 * c + 1], left, high);
    }
  }
}

/// Whether the rows of a fragment are keys or queries; its columns are the other.
enum class Down : std::uint8_t { keys, queries };

/// Which queries of a tile see which of its keys, as 32-bit offsets from the tile's first query and key.
struct TileMask {
  bool cuts = false;  ///< otherwise all see all
  int keys = 0;       ///< that there are
  int behind = 0;     ///< positions of the first query behind the first key
  int window = 0;     ///< a query sees keys that are less than so many positions behind it
};

/// The mask of a tile of `queries` queries by `keys` keys.
__device__ __forceinline__ TileMask tile_mask(const AttentionShape& s, std::int64_t first_query, int queries,
                                              std::int64_t first_key, int keys) {
  constexpr std::int64_t far = std::int64_t{1} << 30;  // beyond any tile, and twice it an int
  const bool is_causal = s.mask != Mask::none;
  const std::int64_t window = is_causal && s.window != 0 ? s.window : far * far;
  const std::int64_t behind = is_causal ? s.first_query + first_query - s.first_key - first_key : keys;
  const std::int64_t left = s.keys - first_key;
  TileMask mask;
  mask.cuts = left < keys || behind < keys - 1 || behind + queries > window;
  mask.keys = static_cast<int>(clamped(left, 0, keys));
  // Clamping moves both by the same amount, so that comparisons between them keep their outcome.
  mask.behind = static_cast<int>(clamped(behind, -far, far));
  mask.window = static_cast<int>(clamped(window - (behind - mask.behind), -far, 2 * far - 1));
  return mask;
}

/// Sets a score to minus infinity where its query does not see its key.
template <Down down, int Columns>
__device__ __forceinline__ void mask_scores(FragmentSum (&scores)[Columns / 8], const TileMask& mask) {
  if (!mask.cuts) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  PLUMBLINE_UNROLLED
  for (int j = 0; j < Columns / 8; ++j) {
    PLUMBLINE_UNROLLED
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8;
      const int column = j * 8 + lane % 4 * 2 + i % 2;
      const int key = down == Down::keys ? row : column;
      const int behind = mask.behind + (down == Down::keys ? column : row) - key;
      if (key >= mask.keys || behind < 0 || behind >= mask.window) scores[j][i] = -INFINITY;
    }
  }
}

/// Rows that copies of 16 bytes may begin at.
[[nodiscard]] inline bool is_aligned(const ConstTensorView& view) {
  constexpr std::uintptr_t unit = 16;
  return reinterpret_cast<std::uintptr_t>(view.data) % unit == 0 && view.stride % 8 == 0;
}

}  // namespace plumbline::cuda
