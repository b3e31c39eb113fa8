#include "planner/checkpointing/placement.h"

#include "core/cost/stage_memory.h"
#include "core/plan/pipeline_schedule.h"

namespace plumbline {
namespace {

/// Blocks with more undominated partial choices offer their frontier, or if that has too many its convex corners: the
/// layers of a stage mix corners, so what is lost is at most one layer's step from corner to corner.
constexpr std::size_t most_choices = 512;

std::vector<RecomputeChoice> choices_of(const Block& block, const Shard& shard, const BlockGroups& groups,
                                        const BlockPricer& pricer) {
  const RecomputeProblem problem = recompute_problem(block, shard, groups, pricer);
  if (block.kind() != BlockKind::layer) return {price_choice(problem, std::vector<bool>(problem.ops.size(), false))};
  for (const Restored restored : {Restored::counted, Restored::ignored})
    if (auto choices = block_choices_up_to(problem, restored, most_choices)) return std::move(*choices);
  return frontier_hull(problem);
}

Flops flops_of(const RecomputeChoice& choice, const Block& block, const Shard& shard) {
  Flops sum(0);
  for (std::size_t o = 0; o < choice.replayed.size(); ++o)
    if (choice.replayed[o]) sum += op_work(block, block.op(block.execution_order()[o]), shard).forward;
  return sum;
}

}  // namespace

std::vector<StageCost> Placement::costs() const {
  std::vector<StageCost> result;
  for (const PlacedStage& stage : stages) result.push_back(stage.cost);
  return result;
}

RecomputePlacer::RecomputePlacer(const Question& question, const Strategy& strategy)
    : question_(&question), strategy_(strategy), blocks_(block_costs(question, strategy)) {
  strategy_.recompute = {};
  const Shard shard = shard_of(strategy, question.training());
  const BlockGroups groups = block_groups(strategy);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = question.graph().blocks()[b];
    choices_.push_back(choices_of(block, shard, groups, question.block_pricer()));
    options_.emplace_back();
    replayed_flops_.emplace_back();
    for (const RecomputeChoice& choice : choices_.back()) {
      // Kept bytes are counted in chunks of 1 / virtual_stages, so everything beside them is scaled instead.
      const Bytes beside = std::int64_t{strategy.virtual_stages} * (blocks_[b].working + choice.restored);
      options_.back().push_back({choice.saved, choice.time, beside});
      replayed_flops_.back().push_back(flops_of(choice, block, shard));
    }
  }
}

Bytes RecomputePlacer::budget(const StageCost& stage, std::int32_t rank) const {
  const auto total = [&](Bytes held) {
    StageCost loaded = stage;
    loaded.saved = Bytes(0);
    loaded.working = held;
    return stage_memory(loaded, strategy_, question_->training().formats(), question_->training().optimizer,
                        question_->calibration().stack, rank)
        .device_total();
  };
  // The allocator's loss grows with what is held, so the largest load that fits is searched for.
  Bytes fits(-1);
  Bytes exceeds = question_->capacity() + Bytes(1);
  while (exceeds - fits > Bytes(1)) {
    const Bytes middle = fits + (exceeds - fits) / std::int64_t{2};
    (total(middle) <= question_->capacity() ? fits : exceeds) = middle;
  }
  return fits;
}

std::optional<PlacedStage> RecomputePlacer::place(const RankContent& content, const StageCost& kept,
                                                  std::int32_t rank) const {
  const Bytes available = budget(kept, rank);
  if (available < Bytes(0)) return std::nullopt;
  std::vector<LayerGroup> groups;
  std::vector<BlockId> blocks;
  for (std::size_t b = 0; b < options_.size(); ++b) {
    if (content.executions[b] == 0) continue;
    groups.push_back({options_[b], content.executions[b]});
    blocks.emplace_back(static_cast<std::int32_t>(b));
  }
  const auto choice =
      choose_layers(groups, chunks_in_flight(strategy_, rank), std::int64_t{strategy_.virtual_stages} * available);
  if (!choice) return std::nullopt;
  PlacedStage placed{kept, {}};
  apply(placed, *choice, blocks);
  return placed;
}

void RecomputePlacer::apply(PlacedStage& stage, const LayerChoice& choice, const std::vector<BlockId>& blocks) const {
  stage.cost.saved = choice.saved;
  stage.cost.recompute = {};
  stage.cost.recompute.compute = choice.time;
  stage.cost.working = choice.restored / std::int64_t{strategy_.virtual_stages};
  stage.cost.recompute_flops = Flops(0);
  for (std::size_t g = 0; g < blocks.size(); ++g)
    for (std::size_t o = 0; o < choice.layers[g].size(); ++o) {
      const std::int64_t count = choice.layers[g][o];
      if (count == 0) continue;
      stage.blocks.push_back({blocks[g], static_cast<std::int32_t>(o), count});
      stage.cost.recompute_flops +=
          static_cast<double>(count) * replayed_flops_[static_cast<std::size_t>(blocks[g].index())][o];
    }
}

std::optional<Placement> RecomputePlacer::place(const StageLayout& layout) const {
  StageLayout unplaced = layout;
  unplaced.recompute = {};
  const StageTable kept(question_->graph(), unplaced, blocks_);
  Placement placement;
  for (std::size_t rank = 0; rank < kept.size(); ++rank) {
    RankContent content = layout.distinct[static_cast<std::size_t>(layout.of_rank[rank])];
    auto placed = place(content, kept[rank], static_cast<std::int32_t>(rank));
    if (!placed) return std::nullopt;
    std::fill(content.restored.begin(), content.restored.end(), 0);
    placement.layout.distinct.push_back(std::move(content));
    placement.layout.of_rank.push_back(static_cast<std::int32_t>(rank));
    placement.layout.first_rank.push_back(static_cast<std::int32_t>(rank));
    placement.stages.push_back(std::move(*placed));
  }
  return placement;
}

}  // namespace plumbline
