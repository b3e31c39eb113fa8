#include "core/cost/quantisation.h"

namespace plumbline {
namespace {

/// A tensor in 16 bits, read once.
constexpr double reading = 2;

/// One number with its part of a scale, in one orientation.
double copy_bytes(NumberFormat format, OperandScaling scaling) {
  const double number = static_cast<double>(bits(format)) / 8;
  switch (scaling) {
    case OperandScaling::block: return number + 4.0 / 128;
    case OperandScaling::microscaled: return number + (format == NumberFormat::fp4 ? 1.0 / 16 : 1.0 / 32);
    default: return number;
  }
}

/// Whether a pass over the whole tensor finds its largest magnitude before the cast.
bool looks_first(NumberFormat format, OperandScaling scaling) {
  return scaling == OperandScaling::tensor || format == NumberFormat::fp4;
}

}  // namespace

CastKernels cast_kernels(NumberFormat format, OperandScaling scaling, ProductInputs kept) {
  if (!is_quantized(format)) return {};
  if (kept != ProductInputs::as_read) return {1, 1};
  return scales_tensors(scaling) ? CastKernels{1, 2} : CastKernels{2, 4};
}

CastBytes cast_bytes(NumberFormat format, OperandScaling scaling, ProductInputs kept, OperandLayouts layouts) {
  if (!is_quantized(format)) return {};
  const double copy = copy_bytes(format, scaling);
  const double largest = looks_first(format, scaling) ? reading : 0;
  const double first = largest + reading + copy;
  const double second = reading + copy + (scaling == OperandScaling::row ? reading : 0);
  const double copies = needs_turned_copies(scaling, layouts) ? 2 : 1;
  const double both = scaling == OperandScaling::row ? first + second : largest + reading + copies * copy;
  if (kept != ProductInputs::as_read) return {both, 0, 0, 0, both};
  if (scales_tensors(scaling)) return {first, second, 0, 0, both};
  return {first, second, first, second, first + second};
}

}  // namespace plumbline
