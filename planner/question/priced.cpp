#include "planner/question/priced.h"

#include <algorithm>

#include "planner/checkpointing/placement.h"
#include "planner/partition/balanced_split.h"

namespace plumbline {

std::vector<BlockCost> block_costs(const Question& question, const Strategy& strategy) {
  const Shard shard = shard_of(strategy, question.training(), question.calibration().stack);
  const BlockGroups groups = block_groups(strategy);
  std::vector<BlockCost> costs;
  for (const Block& block : question.graph().blocks())
    costs.push_back(question.block_pricer().price(block, shard, groups));
  if (strategy.recompute.mode == RecomputeMode::placed) add_choices(costs, question, strategy);
  return costs;
}

namespace {

std::vector<Chunk> chunks_of(const Question& question, const Strategy& strategy, const std::vector<BlockCost>& blocks) {
  if (!strategy.layers_per_stage.empty()) return split_into_chunks(question.graph(), strategy.layers_per_stage);
  if (strategy.split == StageSplit::balanced && strategy.pipeline_stages > 1)
    if (const auto split = balanced_split(question, strategy, blocks)) return split->chunks;
  return split_into_chunks(question.graph(), strategy.chunks());
}

}  // namespace

StageLayout layout_of(const Question& question, const Strategy& strategy, const std::vector<BlockCost>& blocks) {
  Arrangement arrangement{chunks_of(question, strategy, blocks), {}};
  arrangement.variants = strategy.recompute.mode == RecomputeMode::placed
                             ? RecomputePlacer(question, strategy, blocks).place(arrangement.chunks).variants
                             : uniform_variants(question.graph(), strategy.recompute);
  return stage_layout(question.graph(), std::move(arrangement), strategy.pipeline_stages, placement(strategy.schedule));
}

StageLayout layout_of(const Question& question, const Strategy& strategy) {
  const bool depends_on_costs =
      strategy.recompute.mode == RecomputeMode::placed || strategy.split == StageSplit::balanced;
  return layout_of(question, strategy, depends_on_costs ? block_costs(question, strategy) : std::vector<BlockCost>{});
}

PeakMemory::PeakMemory(const Question& question, const StageTable& stages, const Strategy& family)
    : question_(&question) {
  for (const std::int32_t rank : telling_ranks(stages.layout(), family))
    ranks_.push_back({&stages[static_cast<std::size_t>(rank)], rank_load(stages, family, rank)});
}

Bytes PeakMemory::of(const Strategy& strategy) const {
  Bytes peak(0);
  const PrecisionFormats formats = question_->training().formats();
  for (const RankPeak& rank : ranks_)
    peak = std::max(peak, stage_memory(*rank.stage, rank.load, strategy, formats, question_->training().optimizer,
                                       question_->calibration().stack)
                              .device_total());
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
  return Bytes(static_cast<std::int64_t>(question.calibration().stack.host_bytes_per_rank)) * ranks_per_node(question);
}

Bytes checkpoints_per_node(const Question& question, const StageTable& stages, const Strategy& strategy) {
  Bytes most(0);
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    const std::int64_t chunks = chunks_in_flight(strategy, static_cast<std::int32_t>(rank));
    most = std::max(most, stages[rank].on_host * chunks / std::int64_t{strategy.virtual_stages});
  }
  return most / std::int64_t{strategy.tensor_parallel} * ranks_per_node(question);
}

bool fits_host(const Question& question, const StageTable& stages, const Strategy& strategy) {
  return host_memory_per_node(question) + checkpoints_per_node(question, stages, strategy) <=
         question.cluster().groups.front().node.host_memory.value;
}

}  // namespace plumbline
