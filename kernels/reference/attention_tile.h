#pragma once
/// \file attention_tile.h: what the forward and backward passes of attention share: tiles of queries against keys.

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/reference/scratch.h"
#include "kernels/reference/sgemm.h"

namespace plumbline::reference {

/// Queries and keys of a tile: its scores (64 KiB) stay in the second-level cache.
inline constexpr std::int64_t attention_tile = 128;

/// A tile of scores: which sequence, which head, which queries and keys (of this call).
struct ScoreTile {
  std::int64_t sequence = 0;
  std::int64_t head = 0;
  std::int64_t query = 0;
  std::int64_t queries = 0;
  std::int64_t key = 0;
  std::int64_t keys = 0;
};

/// A head's part of rows as fp32: the tensor itself or a copy in the workspace.
struct TileOperand {
  const float* data = nullptr;
  std::int64_t stride = 0;
};

/// `room` holds rows * width floats, unless the tensor is fp32 and is used in place.
TileOperand tile_operand(const ConstTensorView& view, std::int64_t row, std::int64_t rows, std::int64_t column,
                         std::int64_t width, float* room);
/// Room for a tile of a tensor, none for fp32.
float* tile_room(const ConstTensorView& view, std::int64_t width, Scratch& scratch);

/// Whether any query of the tile sees any of its keys.
[[nodiscard]] bool is_seen(const AttentionShape& shape, const ScoreTile& tile);
/// The keys [begin, end) of the tile, counted from its first, that query `q` of the tile sees.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
[[nodiscard]] KeyRange seen_keys(const AttentionShape& shape, const ScoreTile& tile, std::int64_t q);

/// scores [queries, keys] = scale * query key^T.
void score(const AttentionShape& shape, const ScoreTile& tile, const TileOperand& query, const TileOperand& key,
           float* scores);

/// The dropout factors of `count` keys of a query, counted from key `first` of the tile.
void tile_dropout(const AttentionDropout& dropout, const AttentionShape& shape, const ScoreTile& tile, std::int64_t q,
                  std::int64_t first, std::int64_t count, float* factors);

/// Throws InternalError unless the tensors have the shape's sizes.
void check_attention(const AttentionShape& shape, const ConstTensorView& query, const ConstTensorView& key,
                     const ConstTensorView& value, const ConstTensorView& output);

[[nodiscard]] inline std::int64_t kv_head_of(const AttentionShape& shape, std::int64_t head) {
  return head * shape.kv_heads / shape.heads;
}

}  // namespace plumbline::reference
