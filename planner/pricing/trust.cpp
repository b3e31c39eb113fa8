#include "planner/pricing/trust.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

/// Features that the widest layer hands on.
std::int64_t width(const Graph& graph) {
  std::int64_t widest = 1;
  for (const Block& block : graph.blocks()) {
    if (block.kind() != BlockKind::layer) continue;
    for (const TensorId id : block.outputs()) {
      const Shape& shape = block.tensor(id).shape;
      if (!shape.empty() && shape.back().symbol == Symbol::constant) widest = std::max(widest, shape.back().factor);
    }
  }
  return widest;
}

}  // namespace

RunFeatures run_features(const Question& question, const Strategy& s) {
  RunFeatures run;
  run.device = slowest_device(question.cluster()).name;
  run.format = std::string(to_text(question.training().formats().matmul));
  run.network = question.facts().experts.empty() ? "dense" : "moe";
  run[RunScale::gpus] = question.devices();
  run[RunScale::hidden] = width(question.graph());
  run[RunScale::sequence] = std::max<std::int64_t>(1, question.training().sequence_length);
  run[RunScale::tokens_per_micro_batch] =
      std::max<std::int64_t>(1, s.micro_batch * run[RunScale::sequence] / s.context_parallel);
  run[RunScale::tp] = s.tensor_parallel;
  run[RunScale::pp] = s.pipeline_stages;
  run[RunScale::cp] = s.context_parallel;
  run[RunScale::ep] = s.expert_parallel;
  return run;
}

Uncertainty uncertainty_of(const Question& question, const Strategy& strategy) {
  return uncertainty(question.calibration(), run_features(question, strategy));
}

Interval interval_of(double expected, double sigma) {
  const double factor = std::exp(deviations_90_percent * sigma);
  return {expected / factor, expected, expected * factor};
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
