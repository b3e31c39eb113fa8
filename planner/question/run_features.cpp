#include "planner/question/run_features.h"

#include <algorithm>

#include "core/graph/sample_unit.h"

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

}  // namespace

RunFeatures question_features(const Graph& graph, const Divisibility& facts, const Training& training,
                              const Cluster& cluster) {
  RunFeatures run;
  run.device = slowest_device(cluster).name;
  run.format = std::string(to_text(training.formats().matmul));
  const bool is_of_images = sample_unit(graph) == SampleUnit::image;
  run.network = is_of_images ? "image" : facts.experts.empty() ? "dense" : "moe";
  run.scales = {};
  run[RunScale::gpus] = device_count(cluster);
  run[RunScale::hidden] = width(graph);
  if (!is_of_images) run[RunScale::sequence] = std::max<std::int64_t>(1, training.sequence_length);
  return run;
}

}  // namespace plumbline
