#include "runtime/cuda/product_shape.h"

namespace plumbline {
namespace {

constexpr std::uint32_t most_alignment = 16;

std::uint32_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  std::uint32_t alignment = 1;
  while (alignment < most_alignment && address % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

OperandScales scales_of(const ConstTensorView& view, bool outer_is_rows) {
  if (view.scale == nullptr) return OperandScales::none;
  if (view.scale_of == ScaleOf::tensor) return OperandScales::tensor;
  return (view.scale_of == ScaleOf::row) == outer_is_rows ? OperandScales::outer : OperandScales::inner;
}

}  // namespace

ProductShape product_shape(const ProductCall& call) {
  const Matmul& args = call.matmul;
  ProductShape shape;
  shape.m = args.c.rows;
  shape.n = args.c.columns;
  shape.k = args.transpose_a == Transpose::yes ? args.a.rows : args.a.columns;
  shape.strides = {args.a.stride, args.b.stride, args.c.stride};
  shape.formats = {args.a.format, args.b.format, args.c.format};
  shape.alignments = {alignment_of(args.a.data), alignment_of(args.b.data), alignment_of(args.c.data)};
  shape.scales = {scales_of(args.a, args.transpose_a == Transpose::no),
                  scales_of(args.b, args.transpose_b == Transpose::yes)};
  shape.transpose_a = args.transpose_a;
  shape.transpose_b = args.transpose_b;
  shape.write = args.write;
  if (args.bias.is_there()) {
    shape.epilogue = Epilogue::bias;
    shape.epilogue_format = args.bias.format;
  } else if (call.row_sums.is_there()) {
    shape.epilogue = Epilogue::row_sums;
    shape.epilogue_format = call.row_sums.format;
  }
  return shape;
}

std::string to_text(const ProductShape& shape) {
  return std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " + std::to_string(shape.k) + " of " +
         std::string(to_text(shape.formats[0])) + " and " + std::string(to_text(shape.formats[1])) + " into " +
         std::string(to_text(shape.formats[2])) +
         (shape.scales[0] == OperandScales::outer ? " with scales of rows" : "");
}

}  // namespace plumbline
