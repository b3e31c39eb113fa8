#pragma once
/// \file pricing.h: from a network and a strategy to costs per stage, as the planner walks it.

#include "core/cost/ruled_variants.h"
#include "core/cost/stage_memory.h"
#include "core/cost/step_time.h"
#include "tests/machines.h"

namespace plumbline {

/// Prices plans of one network on as many nodes as a strategy fills.
class Pricing {
 public:
  Pricing(Graph graph, const Training& training) : graph_(std::move(graph)), training_(training) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] std::vector<StageCost> stages(const Strategy& s) const {
    const StageLayout layout = layout_of(s);
    const StageTable table(graph_, layout, block_costs(s));
    std::vector<StageCost> result;
    for (std::size_t rank = 0; rank < table.size(); ++rank) result.push_back(table[rank]);
    return result;
  }
  [[nodiscard]] std::vector<MemoryBreakdown> memory(const Strategy& s) const {
    std::vector<MemoryBreakdown> result;
    for (const StageCost& stage : stages(s))
      result.push_back(stage_memory(stage, s, training_.formats(), training_.optimizer, round_calibration().stack,
                                    static_cast<std::int32_t>(result.size())));
    return result;
  }
  [[nodiscard]] StepTime step(const Strategy& s) const {
    const StageLayout layout = layout_of(s);
    return StepPricer(block_pricer(s), training_).price(StageTable(graph_, layout, block_costs(s)), s);
  }
  [[nodiscard]] Picoseconds total(const Strategy& s) const {
    const StageLayout layout = layout_of(s);
    return StepPricer(block_pricer(s), training_).total(StageTable(graph_, layout, block_costs(s)), s);
  }
  [[nodiscard]] Picoseconds lower_bound(const Strategy& s) const {
    const StageLayout layout = layout_of(s);
    return StepPricer(block_pricer(s), training_).lower_bound(StageTable(graph_, layout, block_costs(s)), s);
  }
  [[nodiscard]] Picoseconds bound_without_sweep(const Strategy& s) const {
    const StageLayout layout = layout_of(s);
    return StepPricer(block_pricer(s), training_)
        .total(StageTable(graph_, layout, block_costs(s)), s, StepPricer::Sweep::left_out);
  }
  [[nodiscard]] std::vector<CommunicationLine> communication(const Strategy& s) const {
    const StageLayout layout = layout_of(s);
    return StepPricer(block_pricer(s), training_).communication(StageTable(graph_, layout, block_costs(s)), s);
  }

 private:
  [[nodiscard]] static BlockPricer block_pricer(const Strategy& s) {
    const auto nodes = static_cast<std::int32_t>((s.devices() + 7) / 8);
    return BlockPricer(round_cluster(nodes), round_calibration());
  }
  [[nodiscard]] std::vector<BlockCost> block_costs(const Strategy& s) const {
    const BlockPricer pricer = block_pricer(s);
    std::vector<BlockCost> blocks;
    for (const Block& block : graph_.blocks())
      blocks.push_back(pricer.price(block, shard_of(s, training_), block_groups(s)));
    return blocks;
  }
  [[nodiscard]] StageLayout layout_of(const Strategy& s) const {
    const std::vector<Chunk> chunks = split_into_chunks(graph_, s.chunks());
    return stage_layout(graph_, s, chunks, ruled_variants(graph_, s.recompute, chunks));
  }

  Graph graph_;
  Training training_;
};

}  // namespace plumbline
