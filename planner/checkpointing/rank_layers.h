#pragma once
/// \file rank_layers.h: what a placement chooses among on a rank, prepared once for all strategies that price blocks
/// alike.
///
/// Answers the groups of layer_choice.h. Model: equal chunks count as one, whose layers weigh several times; kept bytes
/// are counted in chunks of 1 / virtual_stages, so everything alongside them is scaled instead; logits of the same
/// chunk leave room for what its layers restore. A search asks for the same layers under other memory again and again.
/// Checked against: tests/property/placement_test.cpp, through RecomputePlacer.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/cost/stage_cost.h"
#include "planner/checkpointing/block_frontier.h"
#include "planner/checkpointing/layer_chooser.h"

namespace plumbline {

/// The layers of one rank. Callable from any thread.
class RankLayers {
 public:
  struct Member {
    std::size_t content;
    std::int32_t block;
  };
  /// How a member's options differ from those of one execution of its block.
  struct Scale {
    std::int32_t block = 0;
    std::int32_t virtual_stages = 1;
    std::int64_t repeats = 1;  ///< chunks that are alike
    Bytes logits{0};           ///< of the same chunk
    auto operator<=>(const Scale&) const = default;
  };
  RankLayers(std::span<const RankContent> chunks, std::int32_t virtual_stages, const std::vector<BlockCost>& blocks);
  RankLayers(const RankLayers&) = delete;  // the chooser refers to the groups
  RankLayers& operator=(const RankLayers&) = delete;
  /// `options`: of the scales; `caps`: of these options. Both outlive it.
  void choose_among(const std::vector<std::vector<LayerOption>>& options, const OptionCaps& caps);

  [[nodiscard]] const std::vector<LayerGroup>& groups() const { return groups_; }
  /// By group: the block, and in which of the rank's different chunks.
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  /// By chunk: which of the different ones it is.
  [[nodiscard]] const std::vector<std::size_t>& content_of_chunk() const { return content_of_chunk_; }
  [[nodiscard]] const LayerChooser& chooser() const { return *chooser_; }
  /// By member.
  [[nodiscard]] const std::vector<Scale>& scales() const { return scales_; }
  /// `smallest_layers` of the groups.
  [[nodiscard]] const LayerChoice& smallest(std::int64_t in_flight) const;

 private:
  std::vector<std::size_t> content_of_chunk_;
  std::vector<Member> members_;
  std::vector<Scale> scales_;
  std::vector<LayerGroup> groups_;
  std::optional<LayerChooser> chooser_;
  mutable std::mutex mutex_;
  mutable std::map<std::int64_t, LayerChoice> smallest_;  ///< by micro-batches in flight
};

/// Of the ranks of all strategies whose blocks cost the same. Callable from any thread.
class RankLayersTable {
 public:
  /// `blocks`: with their choices (placement.h); they outlive the table. `restored`: ignored where only a bound is
  /// asked for.
  explicit RankLayersTable(const std::vector<BlockCost>& blocks, Restored restored = Restored::counted);

  [[nodiscard]] const std::vector<BlockCost>& blocks() const { return *blocks_; }
  /// Of a rank with these chunks. `virtual_stages`: how many parts of a rank's memory a chunk's kept bytes are.
  [[nodiscard]] const RankLayers& of(std::span<const RankContent> chunks, std::int32_t virtual_stages) const;

 private:
  /// What ranks choose among that hold the same layers in any numbers.
  struct Options {
    std::vector<std::vector<LayerOption>> of_group;
    std::optional<OptionCaps> caps;
  };
  [[nodiscard]] const Options& options_of(const RankLayers& rank) const;

  const std::vector<BlockCost>* blocks_;
  std::vector<std::vector<LayerOption>> options_;  ///< by BlockId: the choices, restored bytes with the working set
  mutable std::mutex mutex_;
  mutable std::map<std::vector<RankLayers::Scale>, Options> shared_;
  /// By virtual stages and what the chunks execute.
  mutable std::map<std::pair<std::int32_t, std::vector<std::vector<std::int32_t>>>, std::unique_ptr<RankLayers>> known_;
};

}  // namespace plumbline
