#pragma once
/// \file placement.h: recompute placed stage by stage: what each layer of each pipeline rank replays, given what fits.
///
/// Answers, for a split of the network over ranks, which choice every layer takes, of least replay time that its rank's
/// memory allows; where not even the smallest choice fits, the one that holds least. Model: block_frontier.h inside a
/// block, layer_choice.h over the blocks of a rank with the schedule's own in-flight count; the budget is what
/// stage_memory leaves of the device. What a layer restores is alive alongside the working set of that layer.
/// "None", "selective", "full" and "every n-th" are among the choices.
/// Source: Sun et al., AdaPipe, ASPLOS'24.
/// Blocks of more than 512 undominated partial choices offer their frontier (which ignores what a replay restores), and
/// if that is as wide, its convex corners (multi-head latent attention with experts). Otherwise a rank replays at most
/// a two-thousandth of its micro-batch's time longer than the best placement would.
/// Of a rank with several chunks, chunks that hold the same blocks replay the same, and memory counts the mean of the
/// chunks in flight, as stage_memory.h does.
/// Not modelled: trading time between ranks (a rank that is not the slowest replays as little as it can, too).
/// Checked against: tests/property/placement_test.cpp: never slower than any uniform mode that fits; all choices of
/// small networks by brute force.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/cost/stage_cost.h"
#include "planner/checkpointing/rank_layers.h"
#include "planner/question/question.h"

namespace plumbline {

/// Appends what a placement chooses from to the variants of every block, by increasing kept bytes; blocks that are not
/// layers have one choice, to keep everything. `blocks`: priced for `strategy`.
void add_choices(std::vector<BlockCost>& blocks, const Question& question, const Strategy& strategy);
/// Never more than any choice of the block keeps: what enters it and is read by the backward pass. Much faster.
[[nodiscard]] Bytes least_kept(const Block& block, const Question& question, const Strategy& strategy);
/// What the choices of such blocks need alongside what they keep, and what their replays send. That takes longer to
/// find than the choices, and counts only where they are placed. `known`: programs of the question's blocks.
void add_choices_working(std::vector<BlockCost>& blocks, const Question& question, const Strategy& strategy,
                         KnownPrograms* known = nullptr);

/// What the layers of one rank take.
struct RankPlacement {
  Picoseconds time{0};                            ///< of replay, per micro-batch
  std::vector<std::vector<VariantCount>> chunks;  ///< by chunk of the rank
};
/// Leaves what the memory estimate is uncertain by (Question::certain_capacity) where some choice does, since a plan
/// that fills the device is one that may not fit. Places the recompute of one strategy, whose own recompute mode is
/// ignored. The same answer whatever was asked before; outlived by all it was made from.
class RecomputePlacer {
 public:
  /// `groups`: of blocks with their choices.
  RecomputePlacer(const Question& question, const Strategy& strategy, const RankLayersTable& groups);
  /// With groups of its own.
  RecomputePlacer(const Question& question, const Strategy& strategy, const std::vector<BlockCost>& blocks);

  [[nodiscard]] const std::vector<BlockCost>& blocks() const { return groups_->blocks(); }
  [[nodiscard]] const Question& question() const { return *question_; }
  [[nodiscard]] const Strategy& strategy() const { return strategy_; }

  /// What rank `rank` may spend on activations in flight and working buffers together to need no more than `capacity`.
  [[nodiscard]] Bytes budget(const StageCost& stage, std::int32_t rank, Bytes capacity) const;
  /// The fastest of a rank that fits, or nothing. `kept`: the cost of all its chunks with nothing recomputed.
  [[nodiscard]] std::optional<RankPlacement> place(std::span<const RankContent> chunks, const StageCost& kept,
                                                   std::int32_t rank) const;
  /// The same within one capacity, whatever the device has.
  [[nodiscard]] std::optional<RankPlacement> place_within(Bytes capacity, std::span<const RankContent> chunks,
                                                          const StageCost& kept, std::int32_t rank) const;
  /// Never more than the replay time of any placement or named mode that fits the rank within one capacity; nothing
  /// when none does. Fast. `restored`: ignored, as if no layer restored more than some layer must.
  [[nodiscard]] std::optional<Picoseconds> least_replay(Bytes capacity, std::span<const RankContent> chunks,
                                                        const StageCost& kept, std::int32_t rank,
                                                        Restored restored = Restored::ignored) const;
  /// The placement of a rank that holds least.
  [[nodiscard]] RankPlacement smallest(std::span<const RankContent> chunks, std::int32_t rank) const;
  /// What each chunk of a rank holds. `layout`: of this strategy's ranks.
  [[nodiscard]] std::vector<RankContent> chunks_of(const StageLayout& layout, std::int32_t rank) const;

 private:
  [[nodiscard]] Bytes total(const StageCost& stage, std::int32_t rank) const;
  /// What `kept` leaves to choose layers by within the first of some capacities that anything fits; below 0: nothing
  /// fits any.
  [[nodiscard]] Bytes room(const StageCost& kept, std::int32_t rank, const RankLayers& groups,
                           std::span<const Bytes> capacities) const;
  /// What surely fits, then the device.
  [[nodiscard]] std::array<Bytes, 2> device_capacities(std::int32_t site) const;
  [[nodiscard]] Picoseconds replayed_by_operator(std::span<const RankContent> chunks) const;
  [[nodiscard]] std::optional<RankPlacement> place_in(std::span<const Bytes> capacities,
                                                      std::span<const RankContent> chunks, const StageCost& kept,
                                                      std::int32_t rank) const;
  /// Whether nothing needs to be replayed.
  [[nodiscard]] bool holds_all(const StageCost& kept, std::int32_t rank, Bytes capacity) const;
  [[nodiscard]] const RankLayers& groups_of(std::span<const RankContent> chunks) const;
  [[nodiscard]] static RankPlacement read(const LayerChoice& choice, const RankLayers& groups);

  const Question* question_;
  Strategy strategy_;
  std::unique_ptr<const RankLayersTable> own_groups_;
  const RankLayersTable* groups_;
};

}  // namespace plumbline
