// What an optimizer that needs whole matrices, or sums of them, waits for (matrix_gathers.h), in a step.
#include "core/cost/stage_memory.h"
#include "core/cost/step_time.h"

namespace plumbline {
namespace {

/// Each section's two sums of squares, one behind the other: over ranks that share states, and those that hold slices.
template <class Share, class Divide>
void for_each_sum(const std::vector<UnitParameters>& units, const Strategy& s, Share share, Divide divide) {
  const ShardRanks shard = shard_ranks(s);
  const auto add = [&](const FactoredSums& sums, SummingRanks ranks, Axis states, Axis slices, std::int64_t count) {
    const FactoredRoom room = factored_room(sums, ranks);
    for (const std::int64_t values : {room.first, room.second}) share(count, values, ranks.states, states);
    for (const std::int64_t values : {room.divided, room.divided_updates}) divide(count, values, slices);
  };
  for (const UnitParameters& unit : units) {
    add(unit.dense_sums, {s.tensor_parallel, shard.dense}, Axis::gradient, Axis::tensor, unit.count);
    add(unit.end_sums, {s.tensor_parallel, shard.dense}, Axis::gradient, Axis::tensor, unit.count);
    add(unit.expert_sums, {s.expert_tensor_parallel, shard.expert}, Axis::expert_gradient, Axis::expert_tensor,
        unit.count);
  }
}

}  // namespace

/// Unit by unit over the ranks that share states; of whole matrices all at once over ranks that divide them.
Seconds StepPricer::matrix_gather_time(const StageCost& stage, const Strategy& s) const {
  Seconds time(0);
  const OptimizerFacts& row = facts(training_.optimizer);
  if (!row.orthogonalises_matrices && !row.factors_squares) return time;
  const Collective kind = row.factors_squares ? Collective::all_reduce : Collective::all_gather;
  const auto share = [&](std::int64_t count, std::int64_t elements, std::int64_t ranks, Axis axis) {
    if (elements == 0 || ranks == 1) return;
    const RankGroup group{static_cast<std::int32_t>(ranks), rank_group(s, axis).stride};
    time += static_cast<double>(count) * sharing_time(kind, storage(elements, NumberFormat::fp32), group, stage.site);
  };
  const auto divide = [&](std::int64_t count, std::int64_t elements, Axis axis) {
    const RankGroup group = rank_group(s, axis);
    if (elements == 0 || group.size == 1) return;
    time += static_cast<double>(count) *
            sites_[stage.site].communication().time(kind, storage(elements, NumberFormat::fp32), group);
  };
  if (row.factors_squares) {
    for_each_sum(stage.parameters.units, s, share, divide);
    return time;
  }
  const ShardRanks shard = shard_ranks(s);
  const ShardRanks replicas = replica_ranks(s);
  for (const UnitParameters& unit : stage.parameters.units) {
    if (unit.kind != BlockKind::layer) continue;
    share(unit.count, padded(unit.dense_trained, replicas.dense), shard.dense, Axis::gradient);
    share(unit.count, padded(unit.expert_trained, replicas.expert), shard.expert, Axis::expert_gradient);
  }
  divide(1, stage.parameters.divided_matrices * s.tensor_parallel, Axis::tensor);
  divide(1, stage.parameters.expert_trained.matrix * s.expert_tensor_parallel, Axis::expert_tensor);
  return time;
}

}  // namespace plumbline
