#include "core/cost/matrix_gathers.h"

#include <algorithm>

#include "core/cost/stage_memory.h"
#include "core/sharding/collective.h"

namespace plumbline {

MatrixGathers matrix_gathers(const RankParameters& p, const Strategy& s, Optimizer optimizer) {
  MatrixGathers gathers;
  if (!facts(optimizer).orthogonalises_matrices) return gathers;
  constexpr NumberFormat format = NumberFormat::fp32;
  const ShardRanks shard = shard_ranks(s);
  const ShardRanks replicas = replica_ranks(s);
  const auto sent = [](std::int64_t elements, std::int64_t ranks) {
    return wire_bytes(Collective::all_gather, storage(elements, format), static_cast<std::int32_t>(ranks));
  };
  for (const UnitParameters& unit : p.units) {
    if (unit.kind != BlockKind::layer) continue;
    gathers.shards += unit.count * sent(padded(unit.dense_trained, replicas.dense), shard.dense);
    gathers.shards += unit.count * sent(padded(unit.expert_trained, replicas.expert), shard.expert);
  }
  std::int64_t section = 0;
  std::int64_t slices = 0;
  if (shard.dense > 1) section = padded(p.largest_matrix_unit, replicas.dense);
  if (shard.expert > 1) section = std::max(section, padded(p.largest_expert_unit, replicas.expert));
  if (s.tensor_parallel > 1) {
    gathers.slices = sent(p.divided_matrices * s.tensor_parallel, s.tensor_parallel);
    slices = p.largest_divided_matrix * s.tensor_parallel;
  }
  if (const std::int64_t parts = s.expert_tensor_parallel; parts > 1) {
    gathers.shards += sent(p.expert_trained.matrix * parts, parts);
    slices = std::max(slices, p.largest_expert_matrix * parts);
  }
  gathers.buffer = storage(section + slices, format);
  return gathers;
}

}  // namespace plumbline
