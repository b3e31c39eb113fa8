#include "planner/pricing/priced.h"

#include "core/cost/ruled_variants.h"
#include "core/cost/stack_shard.h"
#include "core/program/known_programs.h"
#include "planner/checkpointing/placement.h"
#include "planner/checkpointing/rank_layers.h"
#include "planner/partition/balanced_split.h"
#include "planner/pricing/optimal_recompute.h"
#include "planner/pricing/peak_memory.h"

namespace plumbline {

namespace {

/// Tables of a search have one sample for all modes that few ask for.
bool prices_by_operator(const Strategy& s) {
  return s.recompute.mode == RecomputeMode::by_operator || joins_layers(s.recompute);
}

}  // namespace

std::vector<BlockCost> block_costs(const Question& question, const Strategy& strategy, KnownPrograms* known) {
  KnownPrograms own;
  if (known == nullptr) known = &own;
  std::vector<BlockCost> costs = bare_block_costs(question, strategy, known);
  if (!prices_by_operator(strategy)) add_by_operator(costs, question, strategy, known);
  if (strategy.recompute.mode != RecomputeMode::placed) return costs;
  add_choices(costs, question, strategy);
  add_choices_working(costs, question, strategy, known);
  return costs;
}

namespace {

bool has_experts(const Block& block) {
  return std::any_of(block.ops().begin(), block.ops().end(),
                     [](const Op& op) { return permutes_tokens(op.kind) || op.kind == OpKind::grouped_linear; }) ||
         std::any_of(block.tensors().begin(), block.tensors().end(),
                     [](const Tensor& tensor) { return tensor.partition == Partition::expert; });
}

}  // namespace

std::vector<BlockCost> bare_block_costs(const Question& question, const Strategy& strategy, KnownPrograms* known,
                                        const std::vector<BlockCost>* equivalent) {
  const Shard shard = shard_of(strategy, question.training(), question.calibration().stack);
  const BlockGroups groups = block_groups(strategy);
  std::vector<BlockCost> costs;
  for (std::int32_t site = 0; site < question.sites().count(); ++site)
    for (const Block& block : question.graph().blocks())
      costs.push_back(equivalent != nullptr && !has_experts(block)
                          ? (*equivalent)[costs.size()]
                          : question.block_pricer(site).price_without_by_operator(block, shard, groups, known));
  if (prices_by_operator(strategy)) add_by_operator(costs, question, strategy, known);
  return costs;
}

void add_by_operator(std::vector<BlockCost>& costs, const Question& question, const Strategy& strategy,
                     KnownPrograms* known) {
  const Shard shard = shard_of(strategy, question.training(), question.calibration().stack);
  const BlockGroups groups = block_groups(strategy);
  const std::vector<Block>& blocks = question.graph().blocks();
  for (std::size_t i = 0; i < costs.size(); ++i)
    question.block_pricer(static_cast<std::int32_t>(i / blocks.size()))
        .add_by_operator(costs[i], blocks[i % blocks.size()], shard, groups, known);
}

namespace {

StageLayout layout_of_chunks(const Question& question, const Strategy& strategy, const RankLayersTable& groups,
                             std::vector<Chunk> chunks) {
  std::vector<std::int32_t> variants = strategy.recompute.mode == RecomputeMode::placed
                                           ? optimal_variants(question, strategy, groups, chunks)
                                           : ruled_variants(question.graph(), strategy.recompute, chunks);
  return stage_layout(question.graph(), strategy, std::move(chunks), std::move(variants),
                      question.stage_sites(strategy));
}

/// What a split is chosen for: that it fits, then that its step is short; where neither fits, that it holds least.
auto rank_of_layout(const Question& question, const Strategy& strategy, const StageLayout& layout,
                    const std::vector<BlockCost>& blocks) {
  const StageTable stages(question.graph(), layout, blocks);
  const Bytes peak = peak_memory(question, stages, strategy);
  const bool fits = peak <= question.capacity() && fits_host(question, stages, strategy);
  const Picoseconds step = question.step_pricer().total(stages, strategy);
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

StageLayout layout_of(const Question& question, const Strategy& strategy, KnownPrograms* known) {
  const bool depends_on_costs =
      strategy.recompute.mode == RecomputeMode::placed || strategy.split == StageSplit::balanced;
  return layout_of(question, strategy,
                   depends_on_costs ? block_costs(question, strategy, known) : std::vector<BlockCost>{});
}

namespace {

/// Of the pipeline ranks on devices [begin, end) of all.
Bytes checkpoints_per_device(const Question& question, const StageTable& stages, const Strategy& strategy,
                             std::int64_t begin, std::int64_t end) {
  Bytes most(0);
  const std::int64_t per_rank = std::max<std::int64_t>(1, question.devices() / std::int64_t(stages.size()));
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    const auto r = static_cast<std::int64_t>(rank);
    if (r * per_rank >= end || (r + 1) * per_rank <= begin) continue;
    const std::int64_t chunks = chunks_in_flight(strategy, static_cast<std::int32_t>(rank));
    most = std::max(most, stages[rank].memory.on_host * chunks / std::int64_t{strategy.virtual_stages});
  }
  return most / std::int64_t{strategy.tensor_parallel};
}

}  // namespace

HostMemory host_memory(const Question& question, const StageTable& stages, const Strategy& strategy) {
  const Bytes of_rank(static_cast<std::int64_t>(question.calibration().stack.host.host_bytes_per_rank));
  std::optional<HostMemory> tightest;
  std::int64_t begin = 0;
  for (const NodeGroup& group : question.cluster().groups) {
    const std::int64_t ranks = group.node.devices;
    const std::int64_t end = begin + ranks * group.count;
    // A rank's part is far below 2^63 bytes (rule R20), those of a whole node need not be.
    const Bytes kept = checkpoints_per_device(question, stages, strategy, begin, end);
    const Bytes of_node = kept > Bytes::largest() / (2 * ranks) ? Bytes::largest() / std::int64_t{2} : kept * ranks;
    const HostMemory host{of_rank * ranks + of_node, group.node.host_memory.value};
    if (!tightest || host.available - host.needed < tightest->available - tightest->needed) tightest = host;
    begin = end;
  }
  return *tightest;
}

bool fits_host(const Question& question, const StageTable& stages, const Strategy& strategy) {
  const HostMemory host = host_memory(question, stages, strategy);
  return host.needed <= host.available;
}

}  // namespace plumbline
