#include <algorithm>
#include <limits>

#include "kernels/attention.h"
#include "kernels/reference/attention_tile.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/lanes.h"
#include "kernels/reference/vector_loops.h"

namespace plumbline::reference {
namespace {

/// Keys are the outer loop, so that a tile's key and value gradients are sums in the workspace; the query gradients of
/// all heads that share a key head, and the gradient along each output row, wait there for the last tile.
struct BackwardBuffers {
  BackwardBuffers(const AttentionBackward& args, Scratch scratch) {
    const AttentionShape& s = args.shape;
    const std::int64_t rows = s.heads / s.kv_heads * s.queries;
    query = tile_room(args.query, s.qk_head_dim, scratch);
    key = tile_room(args.key, s.qk_head_dim, scratch);
    value = tile_room(args.value, s.v_head_dim, scratch);
    output_gradient = tile_room(args.output_gradient, s.v_head_dim, scratch);
    probabilities = scratch.floats(attention_tile * attention_tile);
    score_gradient = scratch.floats(attention_tile * attention_tile);
    query_gradient = scratch.floats(rows * s.qk_head_dim);
    along_output = scratch.floats(rows);
    key_gradient = scratch.floats(attention_tile * s.qk_head_dim);
    value_gradient = scratch.floats(attention_tile * s.v_head_dim);
    size = scratch.used();
  }
  float* query = nullptr;
  float* key = nullptr;
  float* value = nullptr;
  float* output_gradient = nullptr;
  float* probabilities = nullptr;
  float* score_gradient = nullptr;
  float* query_gradient = nullptr;
  float* along_output = nullptr;
  float* key_gradient = nullptr;
  float* value_gradient = nullptr;
  Bytes size{0};
};

/// The operands of a tile of keys.
struct KeyTile {
  TileOperand key;
  TileOperand value;
};

/// sum over the head's width of output * output_gradient: what softmax takes away from every score's gradient.
float dot_row(const AttentionBackward& args, std::int64_t row, std::int64_t head) {
  const std::int64_t width = args.shape.v_head_dim;
  float sum = 0;
  for_each_chunk(width, [&](std::int64_t begin, std::int64_t count) {
    Chunk a;
    Chunk b;
    const float* o = load(args.output, row, head * width + begin, count, a);
    const float* g = load(args.output_gradient, row, head * width + begin, count, b);
    sum += lane_sum<float>(count, [&](std::int64_t i) { return o[i] * g[i]; });
  });
  return sum;
}

/// From scores and the gradient of the (dropped) probabilities to probabilities as they met the values, and the
/// gradient of the scores: dS = P (dP - D) scale.
void backward_row(const AttentionBackward& args, const ScoreTile& tile, std::int64_t q, float along, float log_sum,
                  const BackwardBuffers& buffers) {
  float* p = buffers.probabilities + q * tile.keys;
  float* g = buffers.score_gradient + q * tile.keys;
  const KeyRange seen = seen_keys(args.shape, tile, q);
  const bool sees = seen.begin < seen.end && log_sum != -std::numeric_limits<float>::infinity();
  const std::int64_t begin = sees ? seen.begin : tile.keys;
  const std::int64_t end = sees ? seen.end : tile.keys;
  for (float* row : {p, g}) {
    std::fill(row, row + begin, 0.0F);
    std::fill(row + end, row + tile.keys, 0.0F);
  }
  float factors[attention_tile];
  std::fill(factors, factors + attention_tile, 1.0F);
  if (sees && args.dropout.draw.probability != 0.0F)
    tile_dropout(args.dropout, args.shape, tile, q, begin, end - begin, factors);
  const float scale = args.shape.scale;
  exp_and_sum(p + begin, end - begin, log_sum, p + begin);
  for (std::int64_t i = begin; i < end; ++i) {
    const float factor = factors[i - begin];
    g[i] = p[i] * (g[i] * factor - along) * scale;
    p[i] *= factor;
  }
}

void add_tile(const AttentionBackward& args, const ScoreTile& tile, const KeyTile& keys,
              const BackwardBuffers& buffers) {
  const AttentionShape& s = args.shape;
  const std::int64_t row = tile.sequence * s.queries + tile.query;
  const std::int64_t in_group = tile.head % (s.heads / s.kv_heads) * s.queries + tile.query;
  const TileOperand query =
      tile_operand(args.query, row, tile.queries, tile.head * s.qk_head_dim, s.qk_head_dim, buffers.query);
  const TileOperand dy = tile_operand(args.output_gradient, row, tile.queries, tile.head * s.v_head_dim, s.v_head_dim,
                                      buffers.output_gradient);
  score(s, tile, query, keys.key, buffers.probabilities);
  sgemm({Transpose::no, Transpose::yes, tile.queries, tile.keys, s.v_head_dim, 1.0F, dy.data, dy.stride,
         keys.value.data, keys.value.stride, 0.0F, buffers.score_gradient, tile.keys});
  const float* log_sums = args.log_sum_exp + (tile.sequence * s.heads + tile.head) * s.queries + tile.query;
  for (std::int64_t q = 0; q < tile.queries; ++q)
    backward_row(args, tile, q, buffers.along_output[in_group + q], log_sums[q], buffers);
  sgemm({Transpose::yes, Transpose::no, tile.keys, s.v_head_dim, tile.queries, 1.0F, buffers.probabilities, tile.keys,
         dy.data, dy.stride, 1.0F, buffers.value_gradient, s.v_head_dim});
  sgemm({Transpose::yes, Transpose::no, tile.keys, s.qk_head_dim, tile.queries, 1.0F, buffers.score_gradient, tile.keys,
         query.data, query.stride, 1.0F, buffers.key_gradient, s.qk_head_dim});
  sgemm({Transpose::no, Transpose::no, tile.queries, s.qk_head_dim, tile.keys, 1.0F, buffers.score_gradient, tile.keys,
         keys.key.data, keys.key.stride, 1.0F, buffers.query_gradient + in_group * s.qk_head_dim, s.qk_head_dim});
}

/// All queries of the heads that share the tile's keys.
void backward_keys(const AttentionBackward& args, ScoreTile tile, std::int64_t kv_head,
                   const BackwardBuffers& buffers) {
  const AttentionShape& s = args.shape;
  const std::int64_t group = s.heads / s.kv_heads;
  const std::int64_t row = tile.sequence * s.keys + tile.key;
  const KeyTile keys{tile_operand(args.key, row, tile.keys, kv_head * s.qk_head_dim, s.qk_head_dim, buffers.key),
                     tile_operand(args.value, row, tile.keys, kv_head * s.v_head_dim, s.v_head_dim, buffers.value)};
  std::fill(buffers.key_gradient, buffers.key_gradient + tile.keys * s.qk_head_dim, 0.0F);
  std::fill(buffers.value_gradient, buffers.value_gradient + tile.keys * s.v_head_dim, 0.0F);
  for (tile.head = kv_head * group; tile.head < (kv_head + 1) * group; ++tile.head)
    for (tile.query = 0; tile.query < s.queries; tile.query += attention_tile) {
      tile.queries = std::min(attention_tile, s.queries - tile.query);
      if (is_seen(s, tile)) add_tile(args, tile, keys, buffers);
    }
  for (std::int64_t k = 0; k < tile.keys; ++k) {
    store(args.key_gradient, row + k, kv_head * s.qk_head_dim, s.qk_head_dim, buffers.key_gradient + k * s.qk_head_dim,
          args.write_key_value);
    store(args.value_gradient, row + k, kv_head * s.v_head_dim, s.v_head_dim, buffers.value_gradient + k * s.v_head_dim,
          args.write_key_value);
  }
}

void backward_group(const AttentionBackward& args, std::int64_t sequence, std::int64_t kv_head,
                    const BackwardBuffers& buffers) {
  const AttentionShape& s = args.shape;
  const std::int64_t group = s.heads / s.kv_heads;
  std::fill(buffers.query_gradient, buffers.query_gradient + group * s.queries * s.qk_head_dim, 0.0F);
  for (std::int64_t h = 0; h < group; ++h)
    for (std::int64_t q = 0; q < s.queries; ++q)
      buffers.along_output[h * s.queries + q] = dot_row(args, sequence * s.queries + q, kv_head * group + h);
  for (std::int64_t key = 0; key < s.keys; key += attention_tile)
    backward_keys(args, {sequence, 0, 0, 0, key, std::min(attention_tile, s.keys - key)}, kv_head, buffers);
  for (std::int64_t h = 0; h < group; ++h)
    for (std::int64_t q = 0; q < s.queries; ++q)
      store(args.query_gradient, sequence * s.queries + q, (kv_head * group + h) * s.qk_head_dim, s.qk_head_dim,
            buffers.query_gradient + (h * s.queries + q) * s.qk_head_dim, args.write_query);
}

}  // namespace

Bytes attention_workspace(const AttentionBackward& args) { return BackwardBuffers(args, Scratch()).size; }

void attention_backward(const AttentionBackward& args) {
  const AttentionShape& s = args.shape;
  check_attention(s, args.query, args.key, args.value, args.output);
  check_same_shape(args.output, args.output_gradient);
  check_same_shape(args.query, args.query_gradient);
  check_same_shape(args.key, args.key_gradient);
  check_same_shape(args.value, args.value_gradient);
  const BackwardBuffers buffers(args, Scratch(args.workspace));
  for (std::int64_t sequence = 0; sequence < s.batch; ++sequence)
    for (std::int64_t kv_head = 0; kv_head < s.kv_heads; ++kv_head) backward_group(args, sequence, kv_head, buffers);
}

}  // namespace plumbline::reference
