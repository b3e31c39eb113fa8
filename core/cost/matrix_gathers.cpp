#include "core/cost/matrix_gathers.h"

#include <algorithm>

#include "core/cost/stage_memory.h"
#include "core/sharding/collective.h"

namespace plumbline {
namespace {

constexpr NumberFormat gathered_format = NumberFormat::fp32;

/// What an optimizer that factors squared gradients sums instead, section by section.
MatrixGathers factored_gathers(const RankParameters& p, const Strategy& s) {
  MatrixGathers gathers;
  gathers.exchange = MatrixExchange::sum;
  const ShardRanks shard = shard_ranks(s);
  const auto sent = [](std::int64_t values, std::int64_t ranks) {
    return wire_bytes(Collective::all_reduce, storage(values, gathered_format), static_cast<std::int32_t>(ranks));
  };
  const auto add = [&](const FactoredSums& sums, SummingRanks ranks, std::int64_t count, Bytes& slices) {
    const FactoredRoom room = factored_room(sums, ranks);
    gathers.shards += count * (sent(room.first, ranks.states) + sent(room.second, ranks.states));
    slices += count * (sent(room.divided, ranks.slices) + sent(room.divided_updates, ranks.slices));
    gathers.buffer = std::max(gathers.buffer, storage(room.total(), gathered_format));
  };
  for (const UnitParameters& unit : p.units) {
    add(unit.dense_sums, {s.tensor_parallel, shard.dense}, unit.count, gathers.slices);
    add(unit.end_sums, {s.tensor_parallel, shard.dense}, unit.count, gathers.slices);
    add(unit.expert_sums, {s.expert_tensor_parallel, shard.expert}, unit.count, gathers.shards);
  }
  return gathers;
}

}  // namespace

MatrixGathers matrix_gathers(const RankParameters& p, const Strategy& s, Optimizer optimizer) {
  MatrixGathers gathers;
  if (facts(optimizer).factors_squares) return factored_gathers(p, s);
  if (!facts(optimizer).orthogonalises_matrices) return gathers;
  const ShardRanks shard = shard_ranks(s);
  const ShardRanks replicas = replica_ranks(s);
  const auto sent = [](std::int64_t elements, std::int64_t ranks) {
    return wire_bytes(Collective::all_gather, storage(elements, gathered_format), static_cast<std::int32_t>(ranks));
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
  gathers.buffer = storage(section + slices, gathered_format);
  return gathers;
}

}  // namespace plumbline
