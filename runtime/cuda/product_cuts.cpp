#include "runtime/cuda/product_cuts.h"

#include <utility>

namespace plumbline {
namespace {

constexpr std::int64_t unit = 8;       // elements of 16 bits in 16 bytes
constexpr std::int64_t least = 1'024;  // shorter dimensions are not worth another launch

bool has_aligned_rows(const ConstTensorView& view) {
  return bits(view.format) == 16 && view.stride % unit == 0 &&
         reinterpret_cast<std::uintptr_t>(view.data) % (2 * unit) == 0;
}
/// c may be fp32, whose rows then begin at multiples of 32 bytes.
bool takes_cuts(const ProductCall& call) {
  const Matmul& args = call.matmul;
  return has_aligned_rows(args.a) && has_aligned_rows(args.b) && args.c.stride % unit == 0 &&
         bits(args.c.format) >= 16 && !call.row_sums.is_there();
}
bool is_odd(std::int64_t size) { return size >= least && size % unit != 0; }

template <class View>
View slice(const View& view, bool of_rows, std::int64_t first, std::int64_t count) {
  return of_rows ? view.rows_from(first, count) : view.columns_from(first, count);
}

ProductCall part_of_rows(ProductCall call, std::int64_t first, std::int64_t count) {
  Matmul& args = call.matmul;
  args.a = slice(args.a, args.transpose_a == Transpose::no, first, count);
  args.c = args.c.rows_from(first, count);
  return call;
}
ProductCall part_of_columns(ProductCall call, std::int64_t first, std::int64_t count) {
  Matmul& args = call.matmul;
  args.b = slice(args.b, args.transpose_b == Transpose::yes, first, count);
  args.c = args.c.columns_from(first, count);
  if (args.bias.is_there()) args.bias = args.bias.columns_from(first, count);
  return call;
}
ProductCall part_of_sum(ProductCall call, std::int64_t first, std::int64_t count) {
  Matmul& args = call.matmul;
  args.a = slice(args.a, args.transpose_a == Transpose::yes, first, count);
  args.b = slice(args.b, args.transpose_b == Transpose::no, first, count);
  return call;
}

using Parts = std::vector<ProductCall>;

/// Each call in two parts of a dimension: its largest multiple of eight, and the rest.
template <class Part>
Parts cut(const Parts& calls, std::int64_t size, Part part) {
  Parts parts;
  const std::int64_t whole = size / unit * unit;
  for (const ProductCall& call : calls) {
    parts.push_back(part(call, 0, whole));
    parts.push_back(part(call, whole, size - whole));
  }
  return parts;
}

/// Each call as the rest of its sum, and all else added to that.
Parts cut_sum(const Parts& calls, std::int64_t size) {
  Parts parts = cut(calls, size, part_of_sum);
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    std::swap(parts[i], parts[i + 1]);
    parts[i + 1].matmul.write = Write::accumulate;
  }
  return parts;
}

}  // namespace

std::vector<ProductCall> cut_product(const ProductCall& call) {
  Parts calls{call};
  if (!takes_cuts(call)) return calls;
  const ProductShape shape = product_shape(call);
  if (is_odd(shape.k) && call.matmul.bias.is_there()) return calls;
  if (is_odd(shape.m)) calls = cut(calls, shape.m, part_of_rows);
  if (is_odd(shape.n)) calls = cut(calls, shape.n, part_of_columns);
  if (is_odd(shape.k)) calls = cut_sum(calls, shape.k);
  return calls;
}

}  // namespace plumbline
