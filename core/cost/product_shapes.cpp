#include "core/cost/product_shapes.h"

#include <algorithm>

#include "core/sharding/shard.h"

namespace plumbline {
namespace {

double as_double(std::int64_t value) { return static_cast<double>(value); }

double aligned(const std::vector<Alignment>& table, std::int64_t dimension) {
  for (const Alignment& row : table)
    if (dimension % row.multiple == 0) return row.factor;
  return table.back().factor;
}

}  // namespace

double tile_efficiency(const MatrixProduct& p, std::int32_t multiprocessors, const ProductShapes& shapes,
                       DepthParts parts) {
  double best = 0;
  for (const ProductTile& tile : shapes.tiles) {
    const std::int64_t count = divided(p.m, tile.m) * divided(p.n, tile.n) * p.batch;
    const auto share = [&](std::int64_t split) {
      const std::int64_t waves = divided(count * split, multiprocessors);
      return tile.rate * as_double(p.batch) * as_double(p.m) * as_double(p.n) * as_double(split) /
             (as_double(waves) * multiprocessors * as_double(tile.m) * as_double(tile.n));
    };
    best = std::max(best, share(1));
    if (count >= std::int64_t{2} * multiprocessors) continue;
    const auto try_split = [&](std::int64_t split) {
      if (p.k / split >= shapes.splits.shortest_depth) best = std::max(best, shapes.splits.rate * share(split));
    };
    if (parts == DepthParts::listed) {
      for (const std::int64_t split : shapes.splits.parts) try_split(split);
      continue;
    }
    for (std::int64_t split = 2; split <= multiprocessors; split *= 2) try_split(split);
  }
  return best;
}

double alignment_factor(const MatrixProduct& p, const ProductShapes& shapes) {
  return std::min(aligned(shapes.alignments, p.n), aligned(shapes.alignments, p.k));
}

double head_alignment_factor(std::int64_t head_dim, const ProductShapes& shapes) {
  return aligned(shapes.head_alignments, head_dim);
}

}  // namespace plumbline
