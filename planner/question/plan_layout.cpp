#include "planner/question/plan_layout.h"

#include <algorithm>

#include "core/cost/placement.h"

namespace plumbline {
namespace {

std::vector<std::vector<std::int64_t>> layers_of_rank(const Graph& graph, const std::vector<Chunk>& chunks,
                                                      std::size_t rank, std::size_t ranks) {
  const std::vector<BlockId> sequence = graph.sequence();
  std::vector<std::vector<std::int64_t>> result;
  std::int64_t layer = 0;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    std::vector<std::int64_t> range;
    for (std::int64_t i = chunks[c].first; i < chunks[c].last; ++i) {
      if (graph.block(sequence[static_cast<std::size_t>(i)]).kind() != BlockKind::layer) continue;
      if (range.empty()) range = {layer, layer};
      range[1] = layer++;
    }
    if (c % ranks == rank) result.push_back(range);
  }
  return result;
}

}  // namespace

Layout plan_layout(const Question& question, const StageTable& stages, const Strategy& s) {
  Layout layout;
  const Graph& graph = question.graph();
  const std::vector<Chunk> chunks = split_into_chunks(graph, s.chunks());
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    const RankContent& content = stages.layout().distinct[static_cast<std::size_t>(stages.layout().of_rank[rank])];
    StageLayoutEntry entry;
    entry.stage = static_cast<std::int32_t>(rank);
    entry.layers = layers_of_rank(graph, chunks, rank, stages.size());
    for (std::size_t b = 0; b < graph.blocks().size(); ++b) {
      entry.holds_input =
          entry.holds_input || (graph.blocks()[b].kind() == BlockKind::input && content.executions[b] > 0);
      entry.holds_output =
          entry.holds_output || (graph.blocks()[b].kind() == BlockKind::output && content.executions[b] > 0);
      entry.recomputed_layers += content.restored[b];
    }
    entry.parameters_per_rank = stages[rank].parameters.total();
    layout.stages.push_back(std::move(entry));
  }
  layout.rank_order = {"tensor", "context", "data", "pipeline"};
  for (const Axis axis : all_axes) {
    const RankGroup group = rank_group(s, axis);
    layout.groups.push_back(
        {std::string(to_text(axis)), group.size, group.stride, s.devices() / std::max(1, group.size)});
  }
  return layout;
}

}  // namespace plumbline
