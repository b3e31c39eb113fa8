#include "kernels/reductions.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/reference/chunk.h"
#include "kernels/reference/vector_loops.h"

namespace plumbline::reference {
namespace {

/// Magnitudes of fp32 numbers order as their bits do, infinity above all numbers and NaNs above infinity.
std::uint32_t largest_magnitude_bits(const ConstTensorView& input) {
  std::uint32_t largest = 0;
  for (std::int64_t row = 0; row < input.rows; ++row)
    for_each_chunk(input.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk chunk;
      const float* x = load(input, row, begin, count, chunk);
      for (std::int64_t i = 0; i < count; ++i)
        largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffffU);
    });
  return largest;
}

}  // namespace

double sum_of_squares(const ConstTensorView& input) {
  double sum = 0;
  for (std::int64_t row = 0; row < input.rows; ++row)
    for_each_chunk(input.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk chunk;
      const float* x = load(input, row, begin, count, chunk);
      sum += sum_of_squares_of(x, count);
    });
  return sum;
}

float largest_magnitude(const ConstTensorView& input) { return std::bit_cast<float>(largest_magnitude_bits(input)); }

bool has_non_finite(const ConstTensorView& input) {
  const auto infinity = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
  return largest_magnitude_bits(input) >= infinity;
}

Bytes health_workspace(const HealthSum& /*args*/) { return Bytes(0); }

void add_health(const HealthSum& args) {
  args.sum->sum_of_squares += sum_of_squares(args.input);
  if (has_non_finite(args.input)) args.sum->has_non_finite = 1;
}

}  // namespace plumbline::reference
