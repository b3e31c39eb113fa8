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
  stage.logits += count * block.logits;
  for (std::int64_t i = 0; i < count; ++i) {
    stage.parameters += block.parameters;
    stage.wire += block.wire;
  }
  stage.units += count;
  stage.largest_unit_parameters = std::max(stage.largest_unit_parameters, block.parameters.total());
  stage.largest_unit_trained = std::max(stage.largest_unit_trained, block.parameters.trained());
  const auto repeats = static_cast<double>(count);
  stage.model_flops += repeats * block.flops.total();
  stage.recompute_flops += static_cast<double>(restored) * block.flops.forward;
  if (selective) stage.recompute_flops += static_cast<double>(kept) * block.attention_forward;
}

}  // namespace

std::vector<ChunkContent> chunk_contents(const Graph& graph, const std::vector<Chunk>& chunks, Recompute recompute) {
  const std::vector<BlockId> sequence = graph.sequence();
  std::vector<ChunkContent> contents(chunks.size());
  std::int64_t layer = 0;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    contents[c].executions.assign(graph.blocks().size(), 0);
    contents[c].recomputed.assign(graph.blocks().size(), 0);
    contents[c].starts_network = chunks[c].first == 0;
    for (std::int64_t i = chunks[c].first; i < chunks[c].last; ++i) {
      const BlockId id = sequence[static_cast<std::size_t>(i)];
      const auto slot = static_cast<std::size_t>(id.index());
      ++contents[c].executions[slot];
      if (graph.block(id).kind() != BlockKind::layer) continue;
      if (restores_layer(recompute, layer)) ++contents[c].recomputed[slot];
      ++layer;
    }
  }
  return contents;
}

std::vector<StageCost> stage_costs(const Graph& graph, const std::vector<BlockCost>& blocks,
                                   const std::vector<ChunkContent>& chunks, std::int32_t pipeline_stages,
                                   Recompute recompute) {
  std::vector<StageCost> stages(static_cast<std::size_t>(pipeline_stages));
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    StageCost& stage = stages[c % stages.size()];
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (chunks[c].executions[b] == 0) continue;
      const bool is_layer = graph.blocks()[b].kind() == BlockKind::layer;
      add_block(stage, blocks[b], chunks[c].executions[b], chunks[c].recomputed[b], is_layer ? recompute : Recompute{});
      if (!chunks[c].starts_network) stage.boundary = std::max(stage.boundary, blocks[b].boundary);
    }
  }
  // The first rank holds the embedding itself; its copy in the head is the same storage there.
  if (!stages.empty()) stages.front().parameters = without_tied(stages.front().parameters);
  return stages;
}

}  // namespace plumbline
