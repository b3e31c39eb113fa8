#include "core/cost/optimizer_time.h"

#include <algorithm>
#include <cstdint>

#include "core/cost/stage_memory.h"

namespace plumbline {

Seconds optimizer_time(const KernelClock& kernels, const Training& training, const StageCost& stage,
                       const Strategy& s) {
  const PrecisionFormats formats = training.formats();
  const ShardRanks ranks = shard_ranks(s);
  const RankParameters p = padded(stage.parameters, replica_ranks(s));
  const ParameterSplit dense = divided(p.dense_trained, ranks.dense);
  const ParameterSplit expert = divided(p.expert_trained, ranks.expert);
  const ParameterSplit updated{dense.matrix + expert.matrix, dense.other + expert.other, dense.squares + expert.squares,
                               dense.quantized + expert.quantized};
  const Seconds traffic =
      kernels.stream(kernels.calibration().stack.optimizer.optimizer_traffic_factor *
                     static_cast<double>(optimizer_traffic(training.optimizer, formats, updated).value()));
  if (!facts(training.optimizer).orthogonalises_matrices || updated.matrix == 0) return traffic;
  const std::int64_t all = p.dense_trained.matrix + p.expert_trained.matrix;
  const double share = static_cast<double>(updated.matrix) / static_cast<double>(std::max<std::int64_t>(1, all));
  return traffic + share * to_seconds(stage.orthogonalisation);
}

}  // namespace plumbline
