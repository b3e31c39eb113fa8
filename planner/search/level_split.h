#pragma once
/// \file level_split.h: layers moved off the pipeline rank that computes longest, where all ranks compute on equal
/// devices.
///
/// Answers layers per chunk, to be tried alongside the rule's split (core/plan/stage_split.h). That one counts layers;
/// a head over a large vocabulary takes as long as several of them, and all other ranks wait for it.
/// Model: forward and backward of each layer with everything kept, and of what lies before and behind the layers.
/// Single layers go from the slowest chunk of the slowest rank to the fastest chunk of the fastest rank, of equals the
/// last, which holds fewer micro-batches in flight, as long as the slowest rank becomes faster. Of layers that are all
/// alike the result is exact: no split has a faster slowest rank.
/// Source: Megatron-LM's --pipeline-model-parallel-layout, which launches such splits.
/// Not modelled: replay, which makes layers longer and the head not; layers that a network mixes are moved one by one,
/// to a local optimum. Mixed clusters have site_splits.h.
/// Checked against: tests/unit/planner/search/level_split_test.cpp (all splits of small networks).

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cost/block_cost.h"
#include "core/graph/graph.h"
#include "core/plan/strategy.h"

namespace plumbline {

using ChunkLayers = std::vector<std::int32_t>;

/// Layers per chunk that the rule's split holds.
[[nodiscard]] ChunkLayers even_layers(const Graph& graph, std::int64_t chunks);

/// What a micro-batch takes of a network's layers, forward and backward. `blocks`: block_costs of the network.
class LayerTimes {
 public:
  LayerTimes(const Graph& graph, const std::vector<BlockCost>& blocks);

  [[nodiscard]] Picoseconds before() const { return before_; }
  [[nodiscard]] Picoseconds behind() const { return behind_; }
  [[nodiscard]] Picoseconds of(std::int32_t first, std::int32_t last) const {
    return sums_[static_cast<std::size_t>(last)] - sums_[static_cast<std::size_t>(first)];
  }
  [[nodiscard]] Picoseconds total() const { return before_ + sums_.back() + behind_; }
  /// Layers that a first or a last chunk cannot do without: none where it holds something beside them.
  [[nodiscard]] std::int32_t fewest_of_first() const { return has_input_ ? 0 : 1; }
  [[nodiscard]] std::int32_t fewest_of_last() const { return has_output_ ? 0 : 1; }

 private:
  std::vector<Picoseconds> sums_;  ///< of the layers before each
  Picoseconds before_{0};
  Picoseconds behind_{0};
  bool has_input_ = false;
  bool has_output_ = false;
};

/// The split that levels what ranks compute, from `even` on; nothing where that makes the slowest rank faster by less
/// than repeated runs differ.
[[nodiscard]] std::optional<ChunkLayers> level_split(const LayerTimes& times, const Strategy& strategy,
                                                     const ChunkLayers& even);

}  // namespace plumbline
