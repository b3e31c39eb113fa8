// What an optimizer that needs whole matrices waits for (matrix_gathers.h), in a step.
#include "core/cost/stage_memory.h"
#include "core/cost/step_time.h"

namespace plumbline {

/// Unit by unit over the ranks that share states; all matrices at once over ranks that divide them.
Seconds StepPricer::matrix_gather_time(const StageCost& stage, const Strategy& s) const {
  Seconds time(0);
  if (!facts(training_.optimizer).orthogonalises_matrices) return time;
  const ShardRanks shard = shard_ranks(s);
  const ShardRanks replicas = replica_ranks(s);
  const auto add = [&](std::int64_t count, std::int64_t elements, std::int64_t ranks, Axis axis) {
    if (elements == 0 || ranks == 1) return;
    const RankGroup group{static_cast<std::int32_t>(ranks), rank_group(s, axis).stride};
    time += static_cast<double>(count) *
            sharing_time(Collective::all_gather, storage(elements, NumberFormat::fp32), group, stage.site);
  };
  for (const UnitParameters& unit : stage.parameters.units) {
    if (unit.kind != BlockKind::layer) continue;
    add(unit.count, padded(unit.dense_trained, replicas.dense), shard.dense, Axis::gradient);
    add(unit.count, padded(unit.expert_trained, replicas.expert), shard.expert, Axis::expert_gradient);
  }
  const std::int64_t whole = stage.parameters.divided_matrices * s.tensor_parallel;
  if (whole > 0)
    time += sites_[stage.site].communication().time(Collective::all_gather, storage(whole, NumberFormat::fp32),
                                                    rank_group(s, Axis::tensor));
  const std::int64_t experts = stage.parameters.expert_trained.matrix * s.expert_tensor_parallel;
  if (experts > 0 && s.expert_tensor_parallel > 1)
    time += sites_[stage.site].communication().time(Collective::all_gather, storage(experts, NumberFormat::fp32),
                                                    rank_group(s, Axis::expert_tensor));
  return time;
}

}  // namespace plumbline
