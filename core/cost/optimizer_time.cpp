#include "core/cost/optimizer_time.h"

#include <algorithm>
#include <cmath>

#include "core/cost/stage_memory.h"

namespace plumbline {
namespace {

/// Muon orthogonalises each matrix update by Newton-Schulz iterations of three products of an m x m by an m x n matrix
/// (m the shorter side).
constexpr double muon_iterations = 5;
constexpr double muon_products = 3;
/// Fused query-key-value, attention output, fused gate-up (or up) and down projections of a layer.
constexpr std::int64_t matrices_per_unit = 4;

}  // namespace

Seconds optimizer_time(const KernelClock& kernels, const Training& training, const StageCost& stage,
                       const Strategy& s) {
  const PrecisionFormats formats = training.formats();
  const ShardRanks ranks = shard_ranks(s);
  const RankParameters p = padded(stage.parameters, replica_ranks(s));
  const ParameterSplit dense = divided(p.dense_trained, ranks.dense);
  const ParameterSplit expert = divided(p.expert_trained, ranks.expert);
  const ParameterSplit updated{dense.matrix + expert.matrix, dense.other + expert.other};
  const Seconds traffic =
      kernels.stream(kernels.calibration().stack.optimizer_traffic_factor *
                     static_cast<double>(optimizer_traffic(training.optimizer, formats, updated).value()));
  if (!facts(training.optimizer).orthogonalises_matrices || updated.matrix == 0) return traffic;
  // As square matrices of a unit's mean size. Those that tensor-parallel ranks divide are worked on whole by each.
  const auto whole = [&](std::int64_t local, std::int64_t divided) {
    return static_cast<double>(local + divided * (s.tensor_parallel - 1));
  };
  const std::int64_t all = p.dense.matrix + p.expert.matrix;
  const double mean = whole(all, stage.parameters.divided_matrices) /
                      static_cast<double>(std::max<std::int64_t>(1, stage.units * matrices_per_unit));
  const auto side = static_cast<std::int64_t>(std::max(1.0, std::sqrt(mean)));
  const double share = static_cast<double>(updated.matrix) / static_cast<double>(std::max<std::int64_t>(1, all));
  const double matrices = share * whole(all, stage.parameters.divided_matrices) / static_cast<double>(side * side);
  return traffic +
         muon_iterations * muon_products * matrices * kernels.product({1, side, side, side}, formats.activation);
}

}  // namespace plumbline
