#include "planner/pricing/trust.h"

#include <algorithm>
#include <cmath>

#include "core/cost/network_share.h"
#include "core/cost/stack_shard.h"
#include "core/graph/sample_unit.h"
#include "core/quantity/text.h"
#include "planner/pricing/priced.h"

namespace plumbline {
namespace {

/// Features that the widest layer hands on.
std::int64_t width(const Graph& graph) {
  constexpr std::size_t picture_dimensions = 4;  // batch, channels, height, width
  std::int64_t widest = 1;
  for (const Block& block : graph.blocks()) {
    if (block.kind() != BlockKind::layer) continue;
    for (const TensorId id : block.outputs()) {
      const Shape& shape = block.tensor(id).shape;
      if (shape.empty()) continue;
      const Dimension& features = shape.size() == picture_dimensions ? shape[1] : shape.back();
      if (features.symbol == Symbol::constant) widest = std::max(widest, features.factor);
    }
  }
  return widest;
}

Picoseconds step_on(const Cluster& cluster, const Question& question, const Strategy& s) {
  const BlockPricer pricer(cluster, question.calibration());
  const Shard shard = shard_of(s, question.training(), question.calibration().stack);
  const BlockGroups groups = block_groups(s);
  std::vector<BlockCost> blocks;
  for (const Block& block : question.graph().blocks()) blocks.push_back(pricer.price(block, shard, groups));
  const StageLayout layout = layout_of(question, s, blocks);
  return StepPricer(pricer, question.training()).total(StageTable(question.graph(), layout, blocks), s);
}

}  // namespace

RunFeatures run_features(const Question& question, const Strategy& s) {
  RunFeatures run;
  run.device = slowest_device(question.cluster()).name;
  run.format = std::string(to_text(question.training().formats().matmul));
  const bool is_of_images = sample_unit(question.graph()) == SampleUnit::image;
  run.network = is_of_images ? "image" : question.facts().experts.empty() ? "dense" : "moe";
  run[RunScale::gpus] = question.devices();
  run[RunScale::hidden] = width(question.graph());
  run[RunScale::sequence] = std::max<std::int64_t>(1, question.training().sequence_length);
  run[RunScale::tokens_per_micro_batch] =
      std::max<std::int64_t>(1, s.micro_batch * run[RunScale::sequence] / s.context_parallel);
  if (is_of_images) run[RunScale::sequence] = run[RunScale::tokens_per_micro_batch] = 0;
  run[RunScale::tp] = s.tensor_parallel;
  run[RunScale::pp] = s.pipeline_stages;
  run[RunScale::cp] = s.context_parallel;
  run[RunScale::ep] = s.expert_parallel;
  return run;
}

Uncertainty uncertainty_of(const Question& question, const Strategy& strategy, double host_share) {
  RunFeatures features = run_features(question, strategy);
  features.host_share = host_share;
  features.network_share =
      network_share(question.cluster(), [&](const Cluster& cluster) { return step_on(cluster, question, strategy); });
  return uncertainty(question.calibration(), features);
}

Interval interval_of(double expected, double sigma) {
  const double factor = std::exp(deviations_90_percent * sigma);
  return {expected / factor, expected, expected * factor};
}

double chance_to_fit(Bytes expected, double sigma, Bytes capacity) {
  constexpr double parts = 10'000;
  if (sigma <= 0 || expected <= Bytes(0)) return expected <= capacity ? 1 : 0;
  if (capacity <= Bytes(0)) return 0;
  const double room = std::log(static_cast<double>(capacity.value()) / static_cast<double>(expected.value()));
  return std::round(parts * 0.5 * std::erfc(-room / sigma / std::sqrt(2.))) / parts;
}

std::string chance_text(double chance) {
  constexpr double nearly = 0.999;  // a model of errors says nothing of its far tails
  if (chance > nearly) return "> 99.9 %";
  if (chance < 1 - nearly) return "< 0.1 %";
  return fixed(100 * chance, chance > 0.99 || chance < 0.01 ? 1 : 0) + " %";
}

Trust trust_in(const Uncertainty& uncertainty) {
  Trust trust;
  trust.regime = std::string(to_text(uncertainty.regime));
  trust.time_sigma = uncertainty.time_sigma;
  trust.memory_sigma = uncertainty.memory_sigma;
  for (const Beyond& beyond : uncertainty.beyond) {
    trust.beyond.push_back(beyond.what);
    trust.is_far = trust.is_far || beyond.doublings == 0 || beyond.doublings >= 1;
  }
  return trust;
}

}  // namespace plumbline
