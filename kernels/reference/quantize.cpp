#include "kernels/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "kernels/number_conversion.h"
#include "kernels/reductions.h"
#include "kernels/reference/chunk.h"

namespace plumbline::reference {
namespace {

/// Magnitudes of fp32 numbers order as their bits do, infinity above all numbers and NaNs above infinity.
float larger_magnitude(float magnitude, float value) {
  const float other = std::fabs(value);
  return std::bit_cast<std::uint32_t>(other) > std::bit_cast<std::uint32_t>(magnitude) ? other : magnitude;
}

void largest_of_columns(const ConstTensorView& input, float* largest) {
  std::fill_n(largest, input.columns, 0.0F);
  for (std::int64_t row = 0; row < input.rows; ++row)
    for_each_chunk(input.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk chunk;
      const float* x = load(input, row, begin, count, chunk);
      for (std::int64_t i = 0; i < count; ++i) largest[begin + i] = larger_magnitude(largest[begin + i], x[i]);
    });
}

}  // namespace

float largest_fp8(NumberFormat format) {
  check(format == NumberFormat::fp8_e4m3 || format == NumberFormat::fp8_e5m2, "only fp8 has scales");
  return format == NumberFormat::fp8_e4m3 ? from_fp8_e4m3(0x7e) : from_fp8_e5m2(0x7b);
}

float fp8_scale(NumberFormat format, float amax) {
  const float scale = amax / largest_fp8(format);
  // A scale that is not a normal number would lose digits of every element.
  return std::isfinite(amax) && scale >= std::numeric_limits<float>::min() ? scale : 1.0F;
}

void fp8_scale(const Fp8Scale& args) {
  const ConstTensorView& x = args.input;
  if (args.of == ScaleOf::tensor) {
    *args.scale = largest_magnitude(x);
  } else if (args.of == ScaleOf::row) {
    for (std::int64_t row = 0; row < x.rows; ++row) args.scale[row] = largest_magnitude(x.rows_from(row, 1));
  } else {
    largest_of_columns(x, args.scale);
  }
  const std::int64_t count = scale_count(args.of, x.rows, x.columns);
  std::transform(args.scale, args.scale + count, args.scale, [&](float amax) { return fp8_scale(args.format, amax); });
}

}  // namespace plumbline::reference
