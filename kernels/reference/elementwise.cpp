#include "kernels/elementwise.h"

#include <algorithm>

#include "core/base/errors.h"
#include "kernels/reference/map.h"

namespace plumbline::reference {

void add(const Add& args) {
  map(args.a, args.b, args.output, [](float x, float y) { return x + y; });
}

void scale(const Scale& args) {
  map(args.input, args.output, [factor = args.factor](float x) { return x * factor; });
}

void cast(const Cast& args) {
  check_same_shape(args.input, args.output);
  for (std::int64_t row = 0; row < args.input.rows; ++row)
    for_each_chunk(args.input.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk chunk;
      store(args.output, row, begin, count, load(args.input, row, begin, count, chunk));
    });
}

void transpose(const TransposeCopy& args) {
  check(args.input.rows == args.output.columns && args.input.columns == args.output.rows,
        "a transpose turns the shape");
  constexpr std::int64_t block = 32;
  float values[block][block];
  float turned[block];
  for (std::int64_t row = 0; row < args.input.rows; row += block)
    for (std::int64_t column = 0; column < args.input.columns; column += block) {
      const std::int64_t rows = std::min(block, args.input.rows - row);
      const std::int64_t columns = std::min(block, args.input.columns - column);
      for (std::int64_t r = 0; r < rows; ++r) load_to(args.input, row + r, column, columns, values[r]);
      for (std::int64_t c = 0; c < columns; ++c) {
        for (std::int64_t r = 0; r < rows; ++r) turned[r] = values[r][c];
        store(args.output, column + c, row, rows, turned);
      }
    }
}

void fill(const Fill& args) {
  Chunk chunk;
  std::fill(chunk.values, chunk.values + chunk_size, args.value);
  for (std::int64_t row = 0; row < args.output.rows; ++row)
    for_each_chunk(args.output.columns, [&](std::int64_t begin, std::int64_t count) {
      store(args.output, row, begin, count, chunk.values);
    });
}

}  // namespace plumbline::reference
