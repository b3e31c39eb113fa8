#include "core/cost/stage_cost.h"

#include <algorithm>

namespace plumbline {
namespace {

PhaseTime times(PhaseTime time, std::int64_t count) {
  return {time.compute * count, time.tensor_parallel * count, time.context_parallel * count,
          time.expert_parallel * count};
}

/// Whether a recompute choice restores layer number `layer` in full.
bool restores_layer(Recompute recompute, std::int64_t layer) {
  if (recompute.mode == RecomputeMode::full) return true;
  return recompute.mode == RecomputeMode::every_nth && layer % recompute.n == 0;
}

void add_block(StageCost& stage, const BlockCost& block, std::int64_t count, std::int64_t restored,
               Recompute recompute) {
  stage.forward += times(block.forward, count);
  stage.backward += times(block.backward, count);
  stage.recompute += times(block.recompute_full, restored);
  const std::int64_t kept = count - restored;
  const bool selective = recompute.mode == RecomputeMode::selective;
  if (selective) stage.recompute += times(block.recompute_selective, kept);
  stage.saved += kept * (selective ? block.saved_selective : block.saved) + restored * block.boundary;
  Bytes restored_at_once(0);
  if (restored > 0) restored_at_once = block.saved;
  if (selective) restored_at_once = block.saved - block.saved_selective;
  stage.working = std::max(stage.working, block.working + restored_at_once);
  stage.working_forward = std::max(stage.working_forward, block.working);
  stage.logits += count * block.logits;
  stage.parameters += block.parameters * count;
  stage.wire += block.wire * count;
  stage.wire_forward += block.wire_forward * count;
  stage.units += count;
  stage.largest_unit_parameters = std::max(stage.largest_unit_parameters, block.parameters.total());
  stage.largest_unit_trained = std::max(stage.largest_unit_trained, block.parameters.trained());
  const auto repeats = static_cast<double>(count);
  stage.model_flops += repeats * block.flops.total();
  stage.recompute_flops += static_cast<double>(restored) * block.flops.forward;
  if (selective) stage.recompute_flops += static_cast<double>(kept) * block.attention_forward;
}

}  // namespace

StageLayout stage_layout(const Graph& graph, const std::vector<Chunk>& chunks, std::int32_t pipeline_stages,
                         Recompute recompute, StagePlacement placement) {
  const std::vector<BlockId> sequence = graph.sequence();
  const RankContent empty{std::vector<std::int32_t>(graph.blocks().size(), 0),
                          std::vector<std::int32_t>(graph.blocks().size(), 0), false};
  std::vector<RankContent> ranks(static_cast<std::size_t>(pipeline_stages), empty);
  std::int64_t layer = 0;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const std::int32_t holder = rank_of_stage(placement, pipeline_stages, static_cast<std::int32_t>(c));
    RankContent& rank = ranks[static_cast<std::size_t>(holder)];
    rank.receives = rank.receives || c > 0;
    for (std::int64_t i = chunks[c].first; i < chunks[c].last; ++i) {
      const BlockId id = sequence[static_cast<std::size_t>(i)];
      const auto slot = static_cast<std::size_t>(id.index());
      ++rank.executions[slot];
      if (graph.block(id).kind() == BlockKind::layer && restores_layer(recompute, layer++)) ++rank.restored[slot];
    }
  }
  StageLayout layout{recompute, {}, {}, {}};
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto found = std::find(layout.distinct.begin(), layout.distinct.end(), ranks[r]);
    layout.of_rank.push_back(static_cast<std::int32_t>(found - layout.distinct.begin()));
    if (found != layout.distinct.end()) continue;
    layout.distinct.push_back(ranks[r]);
    layout.first_rank.push_back(static_cast<std::int32_t>(r));
  }
  return layout;
}

StageTable::StageTable(const Graph& graph, const StageLayout& layout, const std::vector<BlockCost>& blocks)
    : layout_(&layout), costs_(layout.distinct.size()) {
  for (std::size_t d = 0; d < costs_.size(); ++d) {
    const RankContent& content = layout.distinct[d];
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (content.executions[b] == 0) continue;
      const bool is_layer = graph.blocks()[b].kind() == BlockKind::layer;
      add_block(costs_[d], blocks[b], content.executions[b], content.restored[b],
                is_layer ? layout.recompute : Recompute{});
      if (content.receives) costs_[d].boundary = std::max(costs_[d].boundary, blocks[b].boundary);
    }
  }
  // The first rank holds the embedding itself; a tied head there is the same storage.
  if (!costs_.empty()) costs_.front().parameters = without_tied(costs_.front().parameters);
}

}  // namespace plumbline
