#pragma once
/// \file placement.h: recompute placed stage by stage: what each layer of each pipeline rank replays, given what fits.
///
/// Answers, for a split of the network over ranks, the costs of every rank under the placement of least replay time
/// that its memory allows, or nothing when some rank cannot hold even the smallest choice. Model: block_frontier.h
/// inside a block, layer_choice.h over the blocks of a rank with the schedule's own in-flight count; the budget is what
/// stage_memory leaves of the device. What a layer restores is alive beside the working set of that layer.
/// The strategy's own recompute mode is ignored: "none", "selective" and "full" are among the choices.
/// Source: Sun et al., AdaPipe, ASPLOS'24.
/// Blocks of more than 512 undominated partial choices offer their frontier (which ignores what a replay restores), and
/// if that is as wide, its convex corners (multi-head latent attention with experts); otherwise the placement is exact.
/// Not modelled: trading time between ranks (a rank that is not the slowest replays as little as it can, too).
/// Checked against: tests/property/placement_test.cpp: never slower than any uniform mode that fits; all choices of
/// small networks by brute force, exact.

#include <optional>
#include <vector>

#include "planner/checkpointing/block_frontier.h"
#include "planner/checkpointing/layer_choice.h"
#include "planner/question/priced.h"

namespace plumbline {

/// `count` executions of a block that take choice `choice` of RecomputePlacer::choices(block).
struct PlacedBlocks {
  BlockId block;
  std::int32_t choice = 0;
  std::int64_t count = 0;
};
struct PlacedStage {
  StageCost cost;  ///< with the recompute time, the kept bytes and the working set of the placement
  std::vector<PlacedBlocks> blocks;
};
/// Ranks in order. `StageTable(layout, costs())` is what StepPricer and stage_memory take.
struct Placement {
  StageLayout layout;  ///< every rank its own content
  std::vector<PlacedStage> stages;
  [[nodiscard]] std::vector<StageCost> costs() const;
};

/// Prices the blocks of one strategy and their recompute choices once. Outlived by its question; pure afterwards.
class RecomputePlacer {
 public:
  RecomputePlacer(const Question& question, const Strategy& strategy);

  /// Of a block of the graph, by increasing kept bytes; blocks that are not layers have one choice, to keep everything.
  [[nodiscard]] const std::vector<RecomputeChoice>& choices(BlockId block) const {
    return choices_[static_cast<std::size_t>(block.index())];
  }
  [[nodiscard]] const std::vector<BlockCost>& blocks() const { return blocks_; }
  [[nodiscard]] const Question& question() const { return *question_; }
  [[nodiscard]] const Strategy& strategy() const { return strategy_; }

  /// What rank `rank` may spend on activations in flight and working buffers together.
  [[nodiscard]] Bytes budget(const StageCost& stage, std::int32_t rank) const;
  /// `kept`: the cost of `content` with nothing recomputed.
  [[nodiscard]] std::optional<PlacedStage> place(const RankContent& content, const StageCost& kept,
                                                 std::int32_t rank) const;
  /// All ranks of a layout.
  [[nodiscard]] std::optional<Placement> place(const StageLayout& layout) const;

 private:
  void apply(PlacedStage& stage, const LayerChoice& choice, const std::vector<BlockId>& blocks) const;

  const Question* question_;
  Strategy strategy_;
  std::vector<BlockCost> blocks_;
  std::vector<std::vector<RecomputeChoice>> choices_;  ///< by BlockId
  std::vector<std::vector<LayerOption>> options_;      ///< the same, restored bytes beside the block's working set
  std::vector<std::vector<Flops>> replayed_flops_;
};

}  // namespace plumbline
