#include "kernels/matmul.h"

#include <algorithm>

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/scratch.h"
#include "kernels/reference/sgemm.h"

namespace plumbline::reference {
namespace {

/// Rows of op(a) and columns of op(b) that are widened at a time. Each is converted once per panel of the other, so at
/// 256 the conversions are well below a percent of the multiply-adds.
constexpr std::int64_t panel = 256;

/// An fp32 operand as sgemm wants it: either the tensor itself or a panel of the workspace.
struct Operand {
  const float* data = nullptr;
  std::int64_t stride = 0;
};

struct Shape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

Shape shape_of(const Matmul& args) {
  return {args.c.rows, args.c.columns, args.transpose_a == Transpose::no ? args.a.columns : args.a.rows};
}

void check_shapes(const Matmul& args) {
  const bool is_a = args.transpose_a == Transpose::yes;
  const bool is_b = args.transpose_b == Transpose::yes;
  const Shape s = shape_of(args);
  check((is_a ? args.a.columns : args.a.rows) == s.m, "the rows of a product are those of its first operand");
  check((is_b ? args.b.rows : args.b.columns) == s.n, "the columns of a product are those of its second operand");
  check((is_b ? args.b.columns : args.b.rows) == s.k, "the inner dimensions of a product agree");
  check(!args.bias.is_there() || (args.bias.rows == 1 && args.bias.columns == s.n), "a bias has one value per column");
}

bool is_plain(const ConstTensorView& view) { return view.format == NumberFormat::fp32; }

/// fp32 without bias goes into c directly; everything else takes the round through a panel.
bool writes_directly(const Matmul& args) { return is_plain(args.c) && !args.bias.is_there(); }

struct Panels {
  Panels(const Matmul& args, Scratch scratch) {
    const Shape s = shape_of(args);
    const std::int64_t m = std::min(panel, s.m);
    const std::int64_t n = std::min(panel, s.n);
    if (!is_plain(args.a)) a = scratch.floats(m * s.k);
    if (!is_plain(args.b)) b = scratch.floats(n * s.k);
    if (!writes_directly(args)) c = scratch.floats(m * n);
    size = scratch.used();
  }
  float* a = nullptr;
  float* b = nullptr;
  float* c = nullptr;
  Bytes size{0};
};

/// The part of an operand that covers [first, first + count) of its outer dimension and the whole inner one.
Operand operand(const ConstTensorView& view, bool outer_is_rows, std::int64_t first, std::int64_t count,
                float* target) {
  const ConstTensorView part = outer_is_rows ? view.rows_from(first, count) : view.columns_from(first, count);
  if (is_plain(view)) return {static_cast<const float*>(part.data), view.stride};
  for (std::int64_t row = 0; row < part.rows; ++row) load_to(part, row, 0, part.columns, target + row * part.columns);
  return {target, part.columns};
}

void store_panel(const Matmul& args, const Sgemm& product, std::int64_t row, std::int64_t column) {
  for (std::int64_t r = 0; r < product.m; ++r) {
    float* values = product.c + r * product.ldc;
    if (args.bias.is_there()) {
      Chunk chunk;
      const float* bias = load(args.bias, 0, column, product.n, chunk);
      for (std::int64_t j = 0; j < product.n; ++j) values[j] += bias[j];
    }
    store(args.c, row + r, column, product.n, values, args.write);
  }
}

}  // namespace

Bytes matmul_workspace(const Matmul& args) { return Panels(args, Scratch()).size; }

void matmul(const Matmul& args) {
  check_shapes(args);
  const Shape s = shape_of(args);
  const Panels panels(args, Scratch(args.workspace));
  const bool direct = writes_directly(args);
  // Nothing to widen: the library blocks better than we do.
  const std::int64_t rows = is_plain(args.a) && direct ? s.m : panel;
  const std::int64_t columns = is_plain(args.b) && direct ? s.n : panel;
  for (std::int64_t column = 0; column < s.n; column += columns) {
    const std::int64_t n = std::min(columns, s.n - column);
    const Operand b = operand(args.b, args.transpose_b == Transpose::yes, column, n, panels.b);
    for (std::int64_t row = 0; row < s.m; row += rows) {
      const std::int64_t m = std::min(rows, s.m - row);
      const Operand a = operand(args.a, args.transpose_a == Transpose::no, row, m, panels.a);
      Sgemm product{args.transpose_a, args.transpose_b, m, n, s.k, 1.0F, a.data, a.stride, b.data, b.stride};
      product.c = direct ? reinterpret_cast<float*>(args.c.at(row, column)) : panels.c;
      product.ldc = direct ? args.c.stride : n;
      product.beta = direct && args.write == Write::accumulate ? 1.0F : 0.0F;
      sgemm(product);
      if (!direct) store_panel(args, product, row, column);
    }
  }
}

std::string_view matmul_library() { return sgemm_library(); }

}  // namespace plumbline::reference
