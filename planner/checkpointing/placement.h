#pragma once
/// \file placement.h: recompute placed stage by stage: what each layer of each pipeline rank replays, given what fits.
///
/// Answers, for a split of the network over ranks, which choice every layer takes, of least replay time that its rank's
/// memory allows; where not even the smallest choice fits, the one that holds least. Model: block_frontier.h inside a
/// block, layer_choice.h over the blocks of a rank with the schedule's own in-flight count; the budget is what
/// stage_memory leaves of the device. What a layer restores is alive beside the working set of that layer.
/// "None", "selective", "full" and "every n-th" are among the choices.
/// Inside a chunk the layers that replay most come first: the backward pass reaches them last, when what the later
/// layers kept is free already.
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
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/cost/stage_cost.h"
#include "planner/checkpointing/layer_chooser.h"
#include "planner/question/question.h"

namespace plumbline {

/// Appends what a placement chooses from to the variants of every block, by increasing kept bytes; blocks that are not
/// layers have one choice, to keep everything. `blocks`: priced for `strategy`.
void add_choices(std::vector<BlockCost>& blocks, const Question& question, const Strategy& strategy);

/// What the layers of one rank take.
struct RankPlacement {
  Picoseconds time{0};                            ///< of replay, per micro-batch
  std::vector<std::vector<VariantCount>> chunks;  ///< by chunk of the rank
};
struct Placement {
  std::vector<std::int32_t> variants;  ///< by execution
  bool fits = true;
};

/// Leaves what the memory estimate is uncertain by (Question::certain_capacity) where some choice does, since a plan
/// that fills the device is one that may not fit. Places the recompute of one strategy, whose own recompute mode is
/// ignored. The same answer whatever was asked before; outlived by all it was made from.
class RecomputePlacer {
 public:
  /// `blocks`: with their choices.
  RecomputePlacer(const Question& question, const Strategy& strategy, const std::vector<BlockCost>& blocks);
  RecomputePlacer(const RecomputePlacer&) = delete;  // what is prepared refers to itself
  RecomputePlacer& operator=(const RecomputePlacer&) = delete;

  [[nodiscard]] const std::vector<BlockCost>& blocks() const { return *blocks_; }
  [[nodiscard]] const Question& question() const { return *question_; }
  [[nodiscard]] const Strategy& strategy() const { return strategy_; }

  /// What rank `rank` may spend on activations in flight and working buffers together to need no more than `capacity`.
  [[nodiscard]] Bytes budget(const StageCost& stage, std::int32_t rank, Bytes capacity) const;
  /// The fastest of a rank that fits, or nothing. `kept`: the cost of all its chunks with nothing recomputed.
  [[nodiscard]] std::optional<RankPlacement> place(std::span<const RankContent> chunks, const StageCost& kept,
                                                   std::int32_t rank);
  /// The same within one capacity, whatever the device has.
  [[nodiscard]] std::optional<RankPlacement> place_within(Bytes capacity, std::span<const RankContent> chunks,
                                                          const StageCost& kept, std::int32_t rank);
  /// Never more than the replay time of any placement or named mode that fits the rank; nothing when none does. Fast.
  [[nodiscard]] std::optional<Picoseconds> least_replay(std::span<const RankContent> chunks, const StageCost& kept,
                                                        std::int32_t rank);
  /// The placement of a rank that holds least.
  [[nodiscard]] RankPlacement smallest(std::span<const RankContent> chunks, std::int32_t rank);
  /// What each chunk of a rank holds. `layout`: of this strategy's ranks.
  [[nodiscard]] std::vector<RankContent> chunks_of(const StageLayout& layout, std::int32_t rank) const;
  /// All ranks of a split into chunks. `capacities`: of each rank; empty: the device's.
  [[nodiscard]] Placement place(const std::vector<Chunk>& chunks, const std::vector<Bytes>& capacities = {});

 private:
  /// The layers of a rank as groups of the knapsack: equal chunks count as one, whose layers weigh several times.
  struct Groups {
    struct Member {
      std::size_t content;
      std::int32_t block;
    };
    std::vector<std::size_t> content_of_chunk;
    std::vector<Member> members;
    std::vector<std::vector<LayerOption>> options;
    std::vector<LayerGroup> groups;
    std::optional<LayerChooser> chooser;
  };
  [[nodiscard]] Bytes total(const StageCost& stage, std::int32_t rank) const;
  /// What `kept` leaves to choose layers by within the first of some capacities that anything fits; below 0: nothing
  /// fits any.
  [[nodiscard]] Bytes room(const StageCost& kept, std::int32_t rank, const Groups& groups,
                           std::span<const Bytes> capacities) const;
  /// What surely fits, then the device.
  [[nodiscard]] std::array<Bytes, 2> device_capacities() const;
  [[nodiscard]] Picoseconds replayed_by_operator(std::span<const RankContent> chunks) const;
  [[nodiscard]] std::optional<RankPlacement> place_in(std::span<const Bytes> capacities,
                                                      std::span<const RankContent> chunks, const StageCost& kept,
                                                      std::int32_t rank);
  /// Whether nothing needs to be replayed.
  [[nodiscard]] bool holds_all(const StageCost& kept, std::int32_t rank, Bytes capacity) const;
  [[nodiscard]] Groups& groups_of(std::span<const RankContent> chunks);
  void prepare(Groups& groups, std::span<const RankContent> chunks) const;
  [[nodiscard]] static RankPlacement read(const LayerChoice& choice, const Groups& groups);
  void assign(const std::vector<VariantCount>& counts, Chunk chunk, std::vector<std::int32_t>& variants) const;

  const Question* question_;
  Strategy strategy_;
  const std::vector<BlockCost>* blocks_;
  std::vector<std::vector<LayerOption>> options_;  ///< by BlockId: the choices, restored bytes with the working set
  /// By what the chunks execute: ranks that hold the same choose from the same.
  std::map<std::vector<std::vector<std::int32_t>>, Groups> groups_;
};

}  // namespace plumbline
