#include "planner/pricing/plan_layout.h"

#include <algorithm>

#include "core/plan/rank_group.h"

namespace plumbline {
namespace {

std::vector<std::string> replayed_ops(const Block& block, const VariantSizes& variant) {
  std::vector<std::string> names;
  for (std::size_t o = 0; o < variant.replayed.size(); ++o)
    if (variant.replayed[o]) names.push_back(block.op(block.execution_order()[o]).name);
  return names;
}

/// Fills the entries of ranks from the chunks in the order of the network.
class EntryWriter {
 public:
  EntryWriter(const Graph& graph, const Arrangement& arrangement, const std::vector<BlockCost>& blocks)
      : graph_(graph), sequence_(graph.sequence()), arrangement_(arrangement), blocks_(blocks) {}

  void add_chunk(std::size_t index, StageLayoutEntry& entry) {
    std::vector<std::int64_t>& range = entry.layers.emplace_back();
    const Chunk& chunk = arrangement_.chunks[index];
    std::int32_t before = -1;
    for (std::int64_t i = chunk.first; i < chunk.last; ++i) {
      const BlockId id = sequence_[static_cast<std::size_t>(i)];
      const std::int32_t variant = arrangement_.variants[static_cast<std::size_t>(i)];
      const BlockKind kind = graph_.block(id).kind();
      entry.holds_input = entry.holds_input || kind == BlockKind::input;
      entry.holds_output = entry.holds_output || kind == BlockKind::output;
      if (kind != BlockKind::layer) continue;
      if (range.empty()) range = {layer_, layer_};
      range[1] = layer_;
      const bool continues = before >= 0 && sequence_[static_cast<std::size_t>(before)] == id &&
                             arrangement_.variants[static_cast<std::size_t>(before)] == variant;
      const std::size_t cost = arrangement_.cost_index(id, static_cast<std::size_t>(i), graph_.blocks().size());
      if (!continues) entry.recompute.push_back(run(id, blocks_[cost], variant));
      entry.recompute.back().last_layer = layer_++;
      if (!entry.recompute.back().replayed.empty()) ++entry.recomputed_layers;
      before = static_cast<std::int32_t>(i);
    }
  }

 private:
  [[nodiscard]] RecomputeRun run(BlockId id, const BlockCost& cost, std::int32_t chosen) const {
    const VariantSizes& variant = cost.variant(chosen);
    return {layer_,
            layer_,
            replayed_ops(graph_.block(id), variant),
            variant.memory.saved,
            variant.restored,
            cost.times(chosen).recompute.total()};
  }

  const Graph& graph_;
  std::vector<BlockId> sequence_;
  const Arrangement& arrangement_;
  const std::vector<BlockCost>& blocks_;
  std::int64_t layer_ = 0;
};

}  // namespace

Layout plan_layout(const Question& question, const StageTable& stages, const std::vector<BlockCost>& blocks,
                   const Strategy& s) {
  Layout layout;
  layout.stages.resize(stages.size());
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    layout.stages[rank].stage = static_cast<std::int32_t>(rank);
    layout.stages[rank].parameters_per_rank = stages[rank].parameters.total();
    if (question.sites().count() == 1) continue;
    const std::int64_t per_stage = question.devices() / std::max<std::int64_t>(1, s.pipeline_stages);
    const auto first = static_cast<std::int64_t>(rank) * per_stage;
    layout.stages[rank].devices = devices_text(question.cluster(), first, first + per_stage);
    layout.stages[rank].device_memory = question.device_memory(stages[rank].site);
  }
  const Arrangement& arrangement = stages.layout().arrangement;
  EntryWriter writer(question.graph(), arrangement, blocks);
  for (std::size_t c = 0; c < arrangement.chunks.size(); ++c) {
    const std::int32_t rank = rank_of_stage(placement(s.schedule), s.pipeline_stages, static_cast<std::int32_t>(c));
    writer.add_chunk(c, layout.stages[static_cast<std::size_t>(rank)]);
  }
  layout.rank_order = {"tensor", "context", "data", "pipeline"};
  for (const Axis axis : all_axes) {
    if (!forms(s, axis)) continue;
    const RankGroup group = rank_group(s, axis);
    layout.groups.push_back(
        {std::string(to_text(axis)), group.size, group.stride, s.devices() / std::max(1, group.size)});
  }
  return layout;
}

}  // namespace plumbline
