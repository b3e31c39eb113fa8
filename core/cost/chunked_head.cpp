#include "core/cost/chunked_head.h"

#include <algorithm>
#include <bit>

namespace plumbline {
namespace {

std::int64_t divided_up(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

}  // namespace

ChunkedHead chunked_head(const MatrixProduct& head) {
  const std::int64_t tokens = std::max<std::int64_t>(1, head.batch * head.m);
  const std::int64_t wanted = divided_up(std::max<std::int64_t>(1, head.n), std::max<std::int64_t>(1, head.k));
  const auto rows = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(divided_up(tokens, wanted))));
  return {std::min(rows, tokens), divided_up(tokens, rows)};
}

Bytes ChunkedHead::accumulated(const MatrixProduct& head, NumberFormat format) const {
  return chunks * storage(head.k * head.n, format);
}

}  // namespace plumbline
