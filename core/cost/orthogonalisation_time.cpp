#include "core/cost/orthogonalisation_time.h"

#include <algorithm>
#include <cstdint>

#include "core/sharding/layer_matrix.h"

namespace plumbline {
namespace {

constexpr double muon_iterations = 5;

std::int64_t whole_rows(const Tensor& matrix) {
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < matrix.shape.size(); ++d) rows *= matrix.shape[d].factor;
  return rows;
}

struct MatrixSides {
  std::int64_t count = 1;
  std::int64_t shorter = 0;
  std::int64_t longer = 0;
};

/// An expert's matrices follow one another in the first dimension.
MatrixSides sides_of(const Tensor& matrix, const Shard& shard) {
  const std::int64_t columns = matrix.shape.back().factor;
  std::int64_t rows = whole_rows(matrix);
  std::int64_t batch = 1;
  if (matrix.partition == Partition::expert) {
    const std::int64_t experts = matrix.shape.front().factor;
    rows /= experts;
    batch = divided(experts, shard.expert_parallel);
  }
  return {batch, std::min(rows, columns), std::max(rows, columns)};
}

}  // namespace

Seconds orthogonalisation_time(const KernelClock& kernels, const Block& block, const Shard& shard) {
  Seconds time(0);
  for (const Op& op : block.ops())
    for (const TensorId id : op.parameters) {
      const Tensor& matrix = block.tensor(id);
      if (!matrix.trainable || !is_layer_matrix(block, matrix)) continue;
      const MatrixSides sides = sides_of(matrix, shard);
      const auto product = [&](std::int64_t columns, std::int64_t inner) {
        return kernels.product({sides.count, sides.shorter, columns, inner}, shard.formats.activation);
      };
      const Seconds iteration = product(sides.shorter, sides.longer) + product(sides.shorter, sides.shorter) +
                                product(sides.longer, sides.shorter);
      time = time + muon_iterations * iteration;
    }
  return time;
}

}  // namespace plumbline
