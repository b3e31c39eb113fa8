#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention.h"
#include "kernels/reference/attention_tile.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/elementary.h"
#include "kernels/reference/vector_loops.h"

namespace plumbline::reference {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

struct ForwardBuffers {
  ForwardBuffers(const AttentionForward& args, Scratch scratch) {
    const AttentionShape& s = args.shape;
    query = tile_room(args.query, s.qk_head_dim, scratch);
    key = tile_room(args.key, s.qk_head_dim, scratch);
    value = tile_room(args.value, s.v_head_dim, scratch);
    scores = scratch.floats(attention_tile * attention_tile);
    output = scratch.floats(attention_tile * s.v_head_dim);
    maximum = scratch.floats(attention_tile);
    sum = scratch.floats(attention_tile);
    size = scratch.used();
  }
  float* query = nullptr;
  float* key = nullptr;
  float* value = nullptr;
  float* scores = nullptr;
  float* output = nullptr;   ///< of the tile's queries, not yet divided by `sum`
  float* maximum = nullptr;  ///< per query, of the scores so far
  float* sum = nullptr;      ///< per query, of exp(score - maximum) so far
  Bytes size{0};
};

void scale_row(float* row, std::int64_t count, float factor) {
  for (std::int64_t i = 0; i < count; ++i) row[i] *= factor;
}

/// Turns a query's scores into exp(score - maximum), zero where it does not see, and moves its sums to the new maximum.
void soften_row(const AttentionForward& args, const ScoreTile& tile, std::int64_t q, const ForwardBuffers& buffers) {
  float* row = buffers.scores + q * tile.keys;
  const KeyRange seen = seen_keys(args.shape, tile, q);
  std::fill(row, row + seen.begin, 0.0F);
  std::fill(row + std::max(seen.begin, seen.end), row + tile.keys, 0.0F);
  if (seen.begin >= seen.end) return;
  float* scores = row + seen.begin;
  const std::int64_t count = seen.end - seen.begin;
  const float old = buffers.maximum[q];
  const float top = maximum_of(scores, count, old);
  if (top == minus_infinity) return scale_row(scores, count, 0.0F);
  const float shrink = old == minus_infinity ? 0.0F : exp_of(old - top);
  buffers.sum[q] = buffers.sum[q] * shrink + exp_and_sum(scores, count, top, scores);
  if (shrink != 1.0F) scale_row(buffers.output + q * args.shape.v_head_dim, args.shape.v_head_dim, shrink);
  buffers.maximum[q] = top;
  if (args.dropout.draw.probability == 0.0F) return;
  float factors[attention_tile];
  tile_dropout(args.dropout, args.shape, tile, q, seen.begin, count, factors);
  for (std::int64_t i = 0; i < count; ++i) scores[i] *= factors[i];
}

void add_keys(const AttentionForward& args, const ScoreTile& tile, const TileOperand& query,
              const ForwardBuffers& buffers) {
  const AttentionShape& s = args.shape;
  const std::int64_t row = tile.sequence * s.keys + tile.key;
  const std::int64_t head = kv_head_of(s, tile.head);
  const TileOperand key = tile_operand(args.key, row, tile.keys, head * s.qk_head_dim, s.qk_head_dim, buffers.key);
  const TileOperand value = tile_operand(args.value, row, tile.keys, head * s.v_head_dim, s.v_head_dim, buffers.value);
  score(s, tile, query, key, buffers.scores);
  for (std::int64_t q = 0; q < tile.queries; ++q) soften_row(args, tile, q, buffers);
  sgemm({Transpose::no, Transpose::no, tile.queries, s.v_head_dim, tile.keys, 1.0F, buffers.scores, tile.keys,
         value.data, value.stride, 1.0F, buffers.output, s.v_head_dim});
}

void finish(const AttentionForward& args, const ScoreTile& tile, const ForwardBuffers& buffers) {
  const AttentionShape& s = args.shape;
  float* log_sum_exp = args.log_sum_exp + (tile.sequence * s.heads + tile.head) * s.queries + tile.query;
  for (std::int64_t q = 0; q < tile.queries; ++q) {
    float* row = buffers.output + q * s.v_head_dim;
    const float sum = buffers.sum[q];
    scale_row(row, s.v_head_dim, sum > 0.0F ? 1.0F / sum : (sum == 0.0F ? 0.0F : sum));  // a NaN stays one
    store(args.output, tile.sequence * s.queries + tile.query + q, tile.head * s.v_head_dim, s.v_head_dim, row);
    log_sum_exp[q] = sum == 0.0F ? minus_infinity : buffers.maximum[q] + std::log(sum);
  }
}

void attend(const AttentionForward& args, ScoreTile tile, const ForwardBuffers& buffers) {
  const AttentionShape& s = args.shape;
  const TileOperand query = tile_operand(args.query, tile.sequence * s.queries + tile.query, tile.queries,
                                         tile.head * s.qk_head_dim, s.qk_head_dim, buffers.query);
  std::fill(buffers.output, buffers.output + tile.queries * s.v_head_dim, 0.0F);
  std::fill(buffers.maximum, buffers.maximum + tile.queries, minus_infinity);
  std::fill(buffers.sum, buffers.sum + tile.queries, 0.0F);
  for (tile.key = 0; tile.key < s.keys; tile.key += attention_tile) {
    tile.keys = std::min(attention_tile, s.keys - tile.key);
    if (is_seen(s, tile)) add_keys(args, tile, query, buffers);
  }
  finish(args, tile, buffers);
}

}  // namespace

Bytes attention_workspace(const AttentionForward& args) { return ForwardBuffers(args, Scratch()).size; }

void attention_forward(const AttentionForward& args) {
  const AttentionShape& s = args.shape;
  check_attention(s, args.query, args.key, args.value, args.output);
  const ForwardBuffers buffers(args, Scratch(args.workspace));
  for (std::int64_t sequence = 0; sequence < s.batch; ++sequence)
    for (std::int64_t head = 0; head < s.heads; ++head)
      for (std::int64_t query = 0; query < s.queries; query += attention_tile)
        attend(args, {sequence, head, query, std::min(attention_tile, s.queries - query)}, buffers);
}

}  // namespace plumbline::reference
