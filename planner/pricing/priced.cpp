#include "planner/pricing/priced.h"
#include "core/cost/stack_shard.h"

#include <algorithm>
#include <tuple>

#include "planner/checkpointing/placement.h"
#include "planner/checkpointing/rank_layers.h"
#include "planner/partition/balanced_split.h"
#include "planner/pricing/optimal_recompute.h"

namespace plumbline {

std::vector<BlockCost> block_costs(const Question& question, const Strategy& strategy) {
  std::vector<BlockCost> costs = bare_block_costs(question, strategy);
  if (strategy.recompute.mode != RecomputeMode::placed) return costs;
  add_choices(costs, question, strategy);
  add_choices_working(costs, question, strategy);
  return costs;
}

std::vector<BlockCost> bare_block_costs(const Question& question, const Strategy& strategy) {
  const Shard shard = shard_of(strategy, question.training(), question.calibration().stack);
  const BlockGroups groups = block_groups(strategy);
  std::vector<BlockCost> costs;
  for (const Block& block : question.graph().blocks())
    costs.push_back(question.block_pricer().price(block, shard, groups));
  return costs;
}

namespace {

StageLayout layout_of_chunks(const Question& question, const Strategy& strategy, const RankLayersTable& groups,
                             std::vector<Chunk> chunks) {
  std::vector<std::int32_t> variants = strategy.recompute.mode == RecomputeMode::placed
                                           ? optimal_variants(question, strategy, groups, chunks)
                                           : uniform_variants(question.graph(), strategy.recompute);
  return stage_layout(question.graph(), {std::move(chunks), std::move(variants)}, strategy.pipeline_stages,
                      placement(strategy.schedule));
}

/// What a split is chosen for: that it fits, then that its step is short; where neither fits, that it holds least.
auto rank_of_layout(const Question& question, const Strategy& strategy, const StageLayout& layout,
                    const std::vector<BlockCost>& blocks) {
  const StageTable stages(question.graph(), layout, blocks);
  const Bytes peak = peak_memory(question, stages, strategy);
  const bool fits = peak <= question.capacity() && fits_host(question, stages, strategy);
  const Picoseconds step = question.step_pricer().price(stages, strategy).total();
  return std::tuple(!fits, fits ? step.value() : peak.value());
}

/// The search for a balanced split knows neither what a step adds once nor what parameters cost per micro-batch, so its
/// split is compared with the even one.
StageLayout balanced_layout(const Question& question, const Strategy& strategy, const RankLayersTable& groups) {
  StageLayout even =
      layout_of_chunks(question, strategy, groups, split_into_chunks(question.graph(), strategy.chunks()));
  const auto split = balanced_split(question, strategy, groups.blocks());
  if (!split || split->chunks == even.arrangement.chunks) return even;
  StageLayout balanced = layout_of_chunks(question, strategy, groups, split->chunks);
  const bool is_better = rank_of_layout(question, strategy, balanced, groups.blocks()) <
                         rank_of_layout(question, strategy, even, groups.blocks());
  return is_better ? balanced : even;
}

}  // namespace

StageLayout layout_of(const Question& question, const Strategy& strategy, const RankLayersTable& groups) {
  if (!strategy.layers_per_stage.empty())
    return layout_of_chunks(question, strategy, groups, split_into_chunks(question.graph(), strategy.layers_per_stage));
  if (strategy.split == StageSplit::balanced && strategy.pipeline_stages > 1)
    return balanced_layout(question, strategy, groups);
  return layout_of_chunks(question, strategy, groups, split_into_chunks(question.graph(), strategy.chunks()));
}

StageLayout layout_of(const Question& question, const Strategy& strategy, const std::vector<BlockCost>& blocks) {
  return layout_of(question, strategy, RankLayersTable(blocks));
}

StageLayout layout_of(const Question& question, const Strategy& strategy) {
  const bool depends_on_costs =
      strategy.recompute.mode == RecomputeMode::placed || strategy.split == StageSplit::balanced;
  return layout_of(question, strategy, depends_on_costs ? block_costs(question, strategy) : std::vector<BlockCost>{});
}

PeakMemory::PeakMemory(const Question& question, const StageTable& stages, const Strategy& family)
    : question_(&question) {
  const std::vector<std::int32_t> ranks = informative_ranks(stages.layout(), family);
  ranks_.reserve(ranks.size());
  for (const std::int32_t rank : ranks)
    ranks_.emplace_back(stages[static_cast<std::size_t>(rank)], rank_load(stages, family, rank), family);
}

Bytes PeakMemory::of(const Strategy& strategy) const {
  Bytes peak(0);
  const PrecisionFormats formats = question_->training().formats();
  for (const ZeroMemory& rank : ranks_)
    peak = std::max(
        peak,
        rank.of(strategy, formats, question_->training().optimizer, question_->calibration().stack).device_total());
  return peak;
}

Bytes peak_memory(const Question& question, const StageTable& stages, const Strategy& strategy) {
  return PeakMemory(question, stages, strategy).of(strategy);
}

namespace {

std::int64_t ranks_per_node(const Question& question) {
  std::int64_t ranks = 0;
  for (const NodeGroup& group : question.cluster().groups) ranks = std::max<std::int64_t>(ranks, group.node.devices);
  return ranks;
}

}  // namespace

Bytes host_memory_per_node(const Question& question) {
  return Bytes(static_cast<std::int64_t>(question.calibration().stack.host.host_bytes_per_rank)) *
         ranks_per_node(question);
}

Bytes checkpoints_per_node(const Question& question, const StageTable& stages, const Strategy& strategy) {
  Bytes most(0);
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    const std::int64_t chunks = chunks_in_flight(strategy, static_cast<std::int32_t>(rank));
    most = std::max(most, stages[rank].memory.on_host * chunks / std::int64_t{strategy.virtual_stages});
  }
  // A rank's part is far below 2^63 bytes (rule R20), those of a whole node need not be.
  const std::int64_t ranks = ranks_per_node(question);
  most = most / std::int64_t{strategy.tensor_parallel};
  return most > Bytes::largest() / (2 * ranks) ? Bytes::largest() / std::int64_t{2} : most * ranks;
}

Bytes host_memory(const Question& question) {
  Bytes least = Bytes::largest();
  for (const NodeGroup& group : question.cluster().groups) least = std::min(least, group.node.host_memory.value);
  return least;
}

bool fits_host(const Question& question, const StageTable& stages, const Strategy& strategy) {
  return host_memory_per_node(question) + checkpoints_per_node(question, stages, strategy) <= host_memory(question);
}

}  // namespace plumbline
