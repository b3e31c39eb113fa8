#include "kernels/embedding.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"

namespace plumbline::reference {
namespace {

/// table[at] += the rows of a gradient that are named, in order: an fp32 sum, rounded once.
void add_rows(const TensorView& table, std::int64_t at, const ConstTensorView& gradient,
              std::span<const std::int64_t> rows) {
  for_each_chunk(gradient.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk chunk;
    Chunk sum;
    const float* old = load(table, at, begin, count, chunk);
    std::copy(old, old + count, sum.values);
    for (const std::int64_t row : rows) {
      const float* x = load(gradient, row, begin, count, chunk);
      for (std::int64_t i = 0; i < count; ++i) sum.values[i] += x[i];
    }
    store(table, at, begin, count, sum.values);
  });
}

/// Rows of `gradient` go to the row of the table that `place(row)` says, or nowhere (-1).
void add_by_place(const TensorView& table, const ConstTensorView& gradient,
                  const std::function<std::int64_t(std::int64_t)>& place) {
  std::map<std::int64_t, std::vector<std::int64_t>> rows_of;
  for (std::int64_t row = 0; row < gradient.rows; ++row)
    if (const std::int64_t at = place(row); at >= 0) rows_of[at].push_back(row);
  for (const auto& [at, rows] : rows_of) add_rows(table, at, gradient, rows);
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
  add_by_place(args.table_gradient, args.output_gradient, [&](std::int64_t row) {
    const std::int64_t at = args.tokens[row] - args.first_token;
    return at < args.table_gradient.rows ? at : -1;
  });
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
  add_by_place(args.table_gradient, args.output_gradient, [&](std::int64_t row) {
    const std::int64_t at = args.place.position(row);
    check(at < args.table_gradient.rows, "a learned position is in its table");
    return at;
  });
}

}  // namespace plumbline::reference
