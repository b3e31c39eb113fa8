#include "kernels/rotary.h"

#include <cmath>

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/elementary.h"

namespace plumbline {
namespace reference {
namespace {

/// Half a head at most: sines and cosines of one position.
struct Angles {
  Chunk sine;
  Chunk cosine;
};

void angles_of(const Rotary& args, std::int64_t position, Angles& angles) {
  const float direction = args.turn == Rotation::forward ? 1.0F : -1.0F;
  for (std::int64_t i = 0; i < args.rotary_dim / 2; ++i) {
    // The product is rounded to fp32, as frameworks do that keep positions and frequencies so.
    const float angle = static_cast<float>(position) * args.frequencies[i];
    const SineCosine both = sine_cosine_of(static_cast<double>(angle));
    angles.sine.values[i] = direction * both.sine;
    angles.cosine.values[i] = both.cosine;
  }
}

void turn_head(const Rotary& args, std::int64_t row, std::int64_t column, const Angles& angles) {
  const std::int64_t half = args.rotary_dim / 2;
  Chunk a;
  Chunk b;
  Chunk low;
  Chunk high;
  const float* x = load(args.input, row, column, half, a);
  const float* y = load(args.input, row, column + half, half, b);
  for (std::int64_t i = 0; i < half; ++i) {
    low.values[i] = x[i] * angles.cosine.values[i] - y[i] * angles.sine.values[i];
    high.values[i] = y[i] * angles.cosine.values[i] + x[i] * angles.sine.values[i];
  }
  store(args.output, row, column, half, low.values);
  store(args.output, row, column + half, half, high.values);
  const std::int64_t rest = args.head_dim - args.rotary_dim;
  if (rest == 0 || args.output.data == args.input.data) return;
  const std::int64_t passed = column + args.rotary_dim;
  for_each_chunk(rest, [&](std::int64_t begin, std::int64_t count) {
    store(args.output, row, passed + begin, count, load(args.input, row, passed + begin, count, a));
  });
}

}  // namespace

void rotary(const Rotary& args) {
  check_same_shape(args.input, args.output);
  check(args.rotary_dim % 2 == 0 && args.rotary_dim <= args.head_dim && args.rotary_dim / 2 <= chunk_size,
        "what turns of a head is even, and half of it is a chunk");
  check(args.input.columns % args.head_dim == 0, "a row that turns consists of heads");
  Angles angles;
  for (std::int64_t row = 0; row < args.input.rows; ++row) {
    angles_of(args, args.place.position(row), angles);
    for (std::int64_t column = 0; column < args.input.columns; column += args.head_dim)
      turn_head(args, row, column, angles);
  }
}

}  // namespace reference

void rotary_frequencies(double base, std::int64_t rotary_dim, float* frequencies) {
  const auto width = static_cast<double>(rotary_dim);
  for (std::int64_t i = 0; i < rotary_dim / 2; ++i)
    frequencies[i] = static_cast<float>(std::pow(base, -2.0 * static_cast<double>(i) / width));
}

}  // namespace plumbline
