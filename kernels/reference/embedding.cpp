#include "kernels/embedding.h"

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"

namespace plumbline::reference {
namespace {

void add_row(const TensorView& table, std::int64_t at, const ConstTensorView& gradient, std::int64_t row) {
  for_each_chunk(gradient.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk chunk;
    store(table, at, begin, count, load(gradient, row, begin, count, chunk), Write::accumulate);
  });
}

}  // namespace

void embedding_forward(const EmbeddingForward& args) {
  check(args.table.columns == args.output.columns, "an embedding is as wide as its table");
  for (std::int64_t row = 0; row < args.output.rows; ++row) {
    const std::int64_t at = args.tokens[row] - args.first_token;
    const bool is_ours = at >= 0 && at < args.table.rows;
    for_each_chunk(args.output.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk chunk = {};
      store(args.output, row, begin, count, is_ours ? load(args.table, at, begin, count, chunk) : chunk.values);
    });
  }
}

void embedding_backward(const EmbeddingBackward& args) {
  check(args.table_gradient.columns == args.output_gradient.columns, "an embedding is as wide as its table");
  for (std::int64_t row = 0; row < args.output_gradient.rows; ++row) {
    const std::int64_t at = args.tokens[row] - args.first_token;
    if (at >= 0 && at < args.table_gradient.rows) add_row(args.table_gradient, at, args.output_gradient, row);
  }
}

void position_embedding_forward(const PositionEmbeddingForward& args) {
  check_same_shape(args.input, args.output);
  for (std::int64_t row = 0; row < args.output.rows; ++row) {
    const std::int64_t at = args.place.position(row);
    check(at < args.table.rows, "a learned position is in its table");
    for_each_chunk(args.output.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk a;
      Chunk b;
      Chunk sum;
      const float* x = load(args.input, row, begin, count, a);
      const float* p = load(args.table, at, begin, count, b);
      for (std::int64_t i = 0; i < count; ++i) sum.values[i] = x[i] + p[i];
      store(args.output, row, begin, count, sum.values);
    });
  }
}

void position_embedding_backward(const PositionEmbeddingBackward& args) {
  for (std::int64_t row = 0; row < args.output_gradient.rows; ++row) {
    const std::int64_t at = args.place.position(row);
    check(at < args.table_gradient.rows, "a learned position is in its table");
    add_row(args.table_gradient, at, args.output_gradient, row);
  }
}

}  // namespace plumbline::reference
