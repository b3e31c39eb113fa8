#include "kernels/unfused_attention.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"
#include "kernels/matmul.h"
#include "kernels/reference/attention_tile.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/elementary.h"
#include "kernels/reference/lanes.h"

namespace plumbline::reference {
namespace {

/// Views of one head of one sequence.
struct Head {
  std::int64_t sequence = 0;
  std::int64_t head = 0;
};

template <class View>
View head_of(const View& view, std::int64_t sequence, std::int64_t rows, std::int64_t head, std::int64_t width) {
  return view.rows_from(sequence * rows, rows).columns_from(head * width, width);
}

template <class View>
View scores_of(const View& view, const AttentionShape& s, const Head& h) {
  return view.rows_from((h.sequence * s.heads + h.head) * s.queries, s.queries);
}

/// Products of a head: their workspace, and a square of scores in fp32, come out of the caller's.
struct UnfusedBuffers {
  UnfusedBuffers(const AttentionShape& s, Bytes product_size, Scratch scratch) {
    scores = scratch.floats(s.queries * s.keys);
    product.data = scratch.floats(product_size.value() / std::int64_t{sizeof(float)});
    product.size = product_size;
    size = scratch.used();
  }
  float* scores = nullptr;
  Workspace product;
  Bytes size{0};
};

Matmul score_product(const UnfusedAttentionForward& args, const Head& h, float* scores) {
  const AttentionShape& s = args.shape;
  return {.a = head_of(args.query, h.sequence, s.queries, h.head, s.qk_head_dim),
          .b = head_of(args.key, h.sequence, s.keys, kv_head_of(s, h.head), s.qk_head_dim),
          .c = dense_view(scores, NumberFormat::fp32, s.queries, s.keys),
          .transpose_b = Transpose::yes};
}

Matmul value_product(const UnfusedAttentionForward& args, const Head& h) {
  const AttentionShape& s = args.shape;
  const TensorView& met = args.dropout.draw.probability != 0.0F ? args.dropped_probabilities : args.probabilities;
  return {.a = scores_of(met, s, h),
          .b = head_of(args.value, h.sequence, s.keys, kv_head_of(s, h.head), s.v_head_dim),
          .c = head_of(args.output, h.sequence, s.queries, h.head, s.v_head_dim)};
}

/// All products of a head's backward pass, in the order in which they run.
struct BackwardProducts {
  Matmul value_gradient;
  Matmul probability_gradient;
  Matmul query_gradient;
  Matmul key_gradient;
};

BackwardProducts backward_products(const UnfusedAttentionBackward& args, const Head& h, float* scores) {
  const AttentionShape& s = args.shape;
  const std::int64_t kv_head = kv_head_of(s, h.head);
  // The heads that share a key head come one after another: the first overwrites, the others add.
  const Write write = h.head % (s.heads / s.kv_heads) == 0 ? Write::overwrite : Write::accumulate;
  const ConstTensorView dy = head_of(args.output_gradient, h.sequence, s.queries, h.head, s.v_head_dim);
  const ConstTensorView& met = args.dropout_probability != 0.0F ? args.dropped_probabilities : args.probabilities;
  const TensorView square = dense_view(scores, NumberFormat::fp32, s.queries, s.keys);
  return {{.a = scores_of(met, s, h),
           .b = dy,
           .c = head_of(args.value_gradient, h.sequence, s.keys, kv_head, s.v_head_dim),
           .transpose_a = Transpose::yes,
           .write = write},
          {.a = dy,
           .b = head_of(args.value, h.sequence, s.keys, kv_head, s.v_head_dim),
           .c = square,
           .transpose_b = Transpose::yes},
          {.a = square,
           .b = head_of(args.key, h.sequence, s.keys, kv_head, s.qk_head_dim),
           .c = head_of(args.query_gradient, h.sequence, s.queries, h.head, s.qk_head_dim)},
          {.a = square,
           .b = head_of(args.query, h.sequence, s.queries, h.head, s.qk_head_dim),
           .c = head_of(args.key_gradient, h.sequence, s.keys, kv_head, s.qk_head_dim),
           .transpose_a = Transpose::yes,
           .write = write}};
}

void run(Matmul product, const Workspace& workspace) {
  product.workspace = workspace;
  matmul(product);
}

/// The whole head as one tile, for the functions that know what a query sees and which elements are dropped.
ScoreTile tile_of(const AttentionShape& s, const Head& h) { return {h.sequence, h.head, 0, s.queries, 0, s.keys}; }

void soften(const UnfusedAttentionForward& args, const Head& h, std::int64_t q, float* row) {
  const AttentionShape& s = args.shape;
  const KeyRange seen = seen_keys(s, tile_of(s, h), q);
  const std::int64_t count = seen.end - seen.begin;
  float* scores = row + seen.begin;
  for (std::int64_t i = 0; i < count; ++i) scores[i] *= s.scale;
  const float top =
      lane_maximum(count, -std::numeric_limits<float>::infinity(), [&](std::int64_t i) { return scores[i]; });
  for (std::int64_t i = 0; i < count; ++i) scores[i] = exp_of(scores[i] - top);
  const float sum = lane_sum<float>(count, [&](std::int64_t i) { return scores[i]; });
  const float inverse = count > 0 ? 1.0F / sum : 0.0F;
  for (std::int64_t i = 0; i < count; ++i) scores[i] *= inverse;
  std::fill(row, scores, 0.0F);
  std::fill(row + seen.end, row + s.keys, 0.0F);
}

void drop(const UnfusedAttentionForward& args, const Head& h, std::int64_t q) {
  const AttentionShape& s = args.shape;
  const std::int64_t at = (h.sequence * s.heads + h.head) * s.queries + q;
  for_each_chunk(s.keys, [&](std::int64_t begin, std::int64_t count) {
    Chunk in;
    Chunk factors;
    Chunk out;
    const float* p = load(args.probabilities, at, begin, count, in);
    tile_dropout(args.dropout, s, tile_of(s, h), q, begin, count, factors.values);
    std::uint8_t* mask = args.mask + at * s.keys + begin;
    for (std::int64_t i = 0; i < count; ++i) {
      mask[i] = factors.values[i] != 0.0F ? 1 : 0;
      out.values[i] = p[i] * factors.values[i];
    }
    store(args.dropped_probabilities, at, begin, count, out.values);
  });
}

/// From the gradient of what met the values to the gradient of the scores, in place.
void backward_row(const UnfusedAttentionBackward& args, const Head& h, std::int64_t q, float* gradient) {
  const AttentionShape& s = args.shape;
  const std::int64_t at = (h.sequence * s.heads + h.head) * s.queries + q;
  if (args.dropout_probability != 0.0F) {
    const float kept = 1.0F / (1.0F - args.dropout_probability);
    const std::uint8_t* mask = args.mask + at * s.keys;
    for (std::int64_t i = 0; i < s.keys; ++i) gradient[i] *= mask[i] != 0 ? kept : 0.0F;
  }
  float along = 0;
  for_each_chunk(s.keys, [&](std::int64_t begin, std::int64_t count) {
    Chunk chunk;
    const float* p = load(args.probabilities, at, begin, count, chunk);
    along += lane_sum<float>(count, [&](std::int64_t i) { return p[i] * gradient[begin + i]; });
  });
  for_each_chunk(s.keys, [&](std::int64_t begin, std::int64_t count) {
    Chunk chunk;
    const float* p = load(args.probabilities, at, begin, count, chunk);
    for (std::int64_t i = 0; i < count; ++i) {
      float& g = gradient[begin + i];
      g = p[i] * (g - along) * s.scale;
    }
  });
}

Bytes largest_workspace(const UnfusedAttentionForward& args) {
  return std::max(matmul_workspace(score_product(args, {}, nullptr)), matmul_workspace(value_product(args, {})));
}

Bytes largest_workspace(const UnfusedAttentionBackward& args) {
  const BackwardProducts p = backward_products(args, {}, nullptr);
  return std::max({matmul_workspace(p.value_gradient), matmul_workspace(p.probability_gradient),
                   matmul_workspace(p.query_gradient), matmul_workspace(p.key_gradient)});
}

template <class Action>
void for_each_head(const AttentionShape& s, Action action) {
  for (std::int64_t sequence = 0; sequence < s.batch; ++sequence)
    for (std::int64_t head = 0; head < s.heads; ++head) action(Head{sequence, head});
}

}  // namespace

Bytes unfused_attention_workspace(const UnfusedAttentionForward& args) {
  return UnfusedBuffers(args.shape, largest_workspace(args), Scratch()).size;
}
Bytes unfused_attention_workspace(const UnfusedAttentionBackward& args) {
  return UnfusedBuffers(args.shape, largest_workspace(args), Scratch()).size;
}

void unfused_attention_forward(const UnfusedAttentionForward& args) {
  const AttentionShape& s = args.shape;
  check_attention(s, args.query, args.key, args.value, args.output);
  const UnfusedBuffers buffers(s, largest_workspace(args), Scratch(args.workspace));
  for_each_head(s, [&](const Head& h) {
    run(score_product(args, h, buffers.scores), buffers.product);
    const TensorView kept = scores_of(args.probabilities, s, h);
    for (std::int64_t q = 0; q < s.queries; ++q) {
      soften(args, h, q, buffers.scores + q * s.keys);
      store(kept, q, 0, s.keys, buffers.scores + q * s.keys);
      if (args.dropout.draw.probability != 0.0F) drop(args, h, q);
    }
    run(value_product(args, h), buffers.product);
  });
}

void unfused_attention_backward(const UnfusedAttentionBackward& args) {
  const AttentionShape& s = args.shape;
  check_attention(s, args.query, args.key, args.value, args.output_gradient);
  const UnfusedBuffers buffers(s, largest_workspace(args), Scratch(args.workspace));
  for_each_head(s, [&](const Head& h) {
    const BackwardProducts products = backward_products(args, h, buffers.scores);
    run(products.value_gradient, buffers.product);
    run(products.probability_gradient, buffers.product);
    for (std::int64_t q = 0; q < s.queries; ++q) backward_row(args, h, q, buffers.scores + q * s.keys);
    run(products.query_gradient, buffers.product);
    run(products.key_gradient, buffers.product);
  });
}

}  // namespace plumbline::reference
