// What an optimizer that needs whole matrices waits for (matrix_gathers.h), in a step.
#include "core/cost/stage_memory.h"
#include "core/cost/step_time.h"

namespace plumbline {

/// Unit by unit over the ranks that share states; all matrices at once over tensor-parallel ranks.
Seconds StepPricer::matrix_gather_time(const StageCost& stage, const Strategy& s) const {
  Seconds time(0);
  if (!facts(training_.optimizer).orthogonalises_matrices) return time;
  const auto shard = static_cast<std::int32_t>(shard_ranks(s).dense);
  const RankGroup group{shard, rank_group(s, Axis::gradient).stride};
  for (const UnitParameters& unit : stage.parameters.units) {
    if (unit.kind != BlockKind::layer || shard == 1) continue;
    const Bytes section = storage(padded(unit.dense_trained, replica_ranks(s).dense), NumberFormat::fp32);
    time += static_cast<double>(unit.count) * sharing_time(Collective::all_gather, section, group);
  }
  const std::int64_t whole = stage.parameters.divided_matrices * s.tensor_parallel;
  if (whole > 0)
    time += blocks_.communication().time(Collective::all_gather, storage(whole, NumberFormat::fp32),
                                         rank_group(s, Axis::tensor));
  return time;
}

}  // namespace plumbline
