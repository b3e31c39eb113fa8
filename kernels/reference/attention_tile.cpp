#include "kernels/reference/attention_tile.h"

#include <algorithm>

#include "kernels/reference/chunk.h"

namespace plumbline::reference {

TileOperand tile_operand(const ConstTensorView& view, std::int64_t row, std::int64_t rows, std::int64_t column,
                         std::int64_t width, float* room) {
  if (view.format == NumberFormat::fp32) return {reinterpret_cast<const float*>(view.at(row, column)), view.stride};
  for (std::int64_t r = 0; r < rows; ++r) load_to(view, row + r, column, width, room + r * width);
  return {room, width};
}

float* tile_room(const ConstTensorView& view, std::int64_t width, Scratch& scratch) {
  return view.format == NumberFormat::fp32 ? nullptr : scratch.floats(attention_tile * width);
}

KeyRange seen_keys(const AttentionShape& shape, const ScoreTile& tile, std::int64_t q) {
  if (shape.mask == Mask::none) return {0, tile.keys};
  const std::int64_t position = shape.first_query + tile.query + q;
  const std::int64_t first = shape.first_key + tile.key;
  const std::int64_t end = std::clamp<std::int64_t>(position + 1 - first, 0, tile.keys);
  if (shape.window == 0) return {0, end};
  return {std::clamp<std::int64_t>(position + 1 - shape.window - first, 0, end), end};
}

bool is_seen(const AttentionShape& shape, const ScoreTile& tile) {
  const KeyRange last = seen_keys(shape, tile, tile.queries - 1);
  const KeyRange first = seen_keys(shape, tile, 0);
  // The last query sees farthest forward, the first farthest back.
  return last.end > 0 && first.begin < tile.keys;
}

void score(const AttentionShape& shape, const ScoreTile& tile, const TileOperand& query, const TileOperand& key,
           float* scores) {
  sgemm({Transpose::no, Transpose::yes, tile.queries, tile.keys, shape.qk_head_dim, shape.scale, query.data,
         query.stride, key.data, key.stride, 0.0F, scores, tile.keys});
}

void tile_dropout(const AttentionDropout& dropout, const AttentionShape& shape, const ScoreTile& tile, std::int64_t q,
                  std::int64_t first, std::int64_t count, float* factors) {
  const std::int64_t row =
      (dropout.first_sequence + tile.sequence) * dropout.whole_heads + dropout.first_head + tile.head;
  const std::int64_t query = shape.first_query + tile.query + q;
  const std::int64_t key = shape.first_key + tile.key + first;
  const std::int64_t element = (row * dropout.whole_positions + query) * dropout.whole_positions + key;
  dropout_factors(dropout.draw, element, count, factors);
}

void check_attention(const AttentionShape& s, const ConstTensorView& query, const ConstTensorView& key,
                     const ConstTensorView& value, const ConstTensorView& output) {
  check(s.heads % s.kv_heads == 0, "every key head serves as many query heads");
  check(query.rows == s.batch * s.queries && query.columns == s.heads * s.qk_head_dim, "queries have the shape's size");
  check(key.rows == s.batch * s.keys && key.columns == s.kv_heads * s.qk_head_dim, "keys have the shape's size");
  check(value.rows == s.batch * s.keys && value.columns == s.kv_heads * s.v_head_dim, "values have the shape's size");
  check(output.rows == query.rows && output.columns == s.heads * s.v_head_dim, "the output has the shape's size");
}

}  // namespace plumbline::reference
