#include "kernels/dropout.h"

#include <algorithm>

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/vector_loops.h"

namespace plumbline::reference {
namespace {

template <class Factors>
void multiply(const ElementDropout& args, Factors factors_of) {
  check_same_shape(args.input, args.output);
  for (std::int64_t row = 0; row < args.input.rows; ++row)
    for_each_chunk(args.input.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk in;
      Chunk factors;
      Chunk out;
      const float* x = load(args.input, row, begin, count, in);
      factors_of(row, begin, count, factors.values);
      for (std::int64_t i = 0; i < count; ++i) out.values[i] = x[i] * factors.values[i];
      store(args.output, row, begin, count, out.values);
    });
}

void draw_factors(const ElementDropout& args, std::int64_t row, std::int64_t begin, std::int64_t count,
                  float* factors) {
  const DropoutPlace& place = args.place;
  const std::int64_t first = place.rows.whole_row(row) * place.whole_columns + place.first_column + begin;
  dropout_factors(args.draw, first, count, factors);
}

}  // namespace

void dropout_factors(const DropoutDraw& draw, std::int64_t first_element, std::int64_t count, float* factors) {
  check(draw.probability >= 0.0F && draw.probability < 1.0F, "a dropout probability is in [0, 1)");
  const float kept = 1.0F / (1.0F - draw.probability);
  const std::uint32_t threshold = dropout_threshold(draw.probability);
  const auto element = static_cast<std::uint64_t>(first_element);
  std::uint32_t words[4 * dropout_batch];
  std::int64_t skipped = static_cast<std::int64_t>(element % 4);  // of the first quad
  std::uint64_t quad = element / 4;
  for (std::int64_t done = 0; done < count; quad += dropout_batch) {
    dropout_words_of(draw.key, quad, words);
    const std::int64_t here = std::min(4 * dropout_batch - skipped, count - done);
    for (std::int64_t i = 0; i < here; ++i) factors[done + i] = words[skipped + i] < threshold ? 0.0F : kept;
    done += here;
    skipped = 0;
  }
}

void dropout_forward(const ElementDropout& args) {
  multiply(args, [&](std::int64_t row, std::int64_t begin, std::int64_t count, float* factors) {
    draw_factors(args, row, begin, count, factors);
    if (args.mask == nullptr) return;
    std::uint8_t* mask = args.mask + row * args.input.columns + begin;
    for (std::int64_t i = 0; i < count; ++i) mask[i] = factors[i] != 0.0F ? 1 : 0;
  });
}

void dropout_backward(const ElementDropout& args) {
  const float kept = 1.0F / (1.0F - args.draw.probability);
  multiply(args, [&](std::int64_t row, std::int64_t begin, std::int64_t count, float* factors) {
    if (args.mask == nullptr) return draw_factors(args, row, begin, count, factors);
    const std::uint8_t* mask = args.mask + row * args.input.columns + begin;
    for (std::int64_t i = 0; i < count; ++i) factors[i] = mask[i] != 0 ? kept : 0.0F;
  });
}

}  // namespace plumbline::reference
