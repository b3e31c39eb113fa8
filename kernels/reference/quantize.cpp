#include "kernels/quantize.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "kernels/number_conversion.h"
#include "kernels/reductions.h"

namespace plumbline::reference {

float largest_fp8(NumberFormat format) {
  check(format == NumberFormat::fp8_e4m3 || format == NumberFormat::fp8_e5m2, "only fp8 has a scale per tensor");
  return format == NumberFormat::fp8_e4m3 ? from_fp8_e4m3(0x7e) : from_fp8_e5m2(0x7b);
}

float fp8_scale(NumberFormat format, float amax) {
  const float scale = amax / largest_fp8(format);
  // A scale that is not a normal number would lose digits of every element.
  return std::isfinite(amax) && scale >= std::numeric_limits<float>::min() ? scale : 1.0F;
}

void fp8_scale(const Fp8Scale& args) { *args.scale = fp8_scale(args.format, largest_magnitude(args.input)); }

}  // namespace plumbline::reference
