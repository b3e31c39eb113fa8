#include "core/cost/matrix_gathers.h"

#include "core/cost/stage_memory.h"
#include "core/sharding/collective.h"

namespace plumbline {

MatrixGathers matrix_gathers(const RankParameters& p, const Strategy& s, Optimizer optimizer) {
  MatrixGathers gathers;
  if (!facts(optimizer).orthogonalises_matrices) return gathers;
  constexpr NumberFormat format = NumberFormat::fp32;
  const std::int64_t shard = shard_ranks(s).dense;
  const std::int64_t replicas = replica_ranks(s).dense;
  const auto sent = [](std::int64_t elements, std::int64_t ranks) {
    return wire_bytes(Collective::all_gather, storage(elements, format), static_cast<std::int32_t>(ranks));
  };
  if (shard > 1) {
    for (const UnitParameters& unit : p.units)
      if (unit.kind == BlockKind::layer)
        gathers.shards += unit.count * sent(padded(unit.dense_trained, replicas), shard);
    gathers.buffer = storage(padded(p.largest_matrix_unit, replicas), format);
  }
  if (s.tensor_parallel > 1) {
    gathers.slices = sent(p.divided_matrices * s.tensor_parallel, s.tensor_parallel);
    gathers.buffer += storage(p.largest_divided_matrix * s.tensor_parallel, format);
  }
  return gathers;
}

}  // namespace plumbline
