#pragma once
/// \file stage_cost.h: what one pipeline rank does and holds per micro-batch: the sum over the blocks of its chunks.
///
/// Model: identical blocks are priced once (block_cost.h) and counted; recompute chooses per layer what is kept and
/// what is computed again. Source: the additivity of a chain of blocks.
/// Not modelled: fusion across block boundaries.

#include <cstdint>
#include <vector>

#include "core/cost/block_cost.h"
#include "core/plan/pipeline_schedule.h"
#include "core/plan/stage_split.h"

namespace plumbline {

struct StageCost {
  PhaseTime forward;   ///< per micro-batch, all chunks of the rank
  PhaseTime backward;  ///< without recompute
  PhaseTime recompute;
  Bytes saved{0};            ///< per micro-batch, all chunks
  Bytes working{0};          ///< largest operator, plus what recomputing a layer restores
  Bytes working_forward{0};  ///< largest operator alone
  Bytes logits{0};
  Bytes boundary{0};  ///< the activation that enters the rank's first chunk from another rank
  RankParameters parameters;
  std::int64_t units = 0;                    ///< block executions: what sharded parameters are gathered by
  std::int64_t largest_unit_parameters = 0;  ///< of one block: what a gather materialises
  std::int64_t largest_unit_trained = 0;
  Flops model_flops{0};  ///< forward and backward, per micro-batch, on this rank
  Flops recompute_flops{0};
  WireBytes wire;          ///< sent by this rank per micro-batch
  WireBytes wire_forward;  ///< of `wire`, in the forward pass

  [[nodiscard]] Picoseconds forward_total() const { return forward.total(); }
  [[nodiscard]] Picoseconds backward_total() const { return backward.total() + recompute.total(); }
};

/// What one pipeline rank holds: how often each block runs there, all chunks together.
struct RankContent {
  std::vector<std::int32_t> executions;  ///< by BlockId
  std::vector<std::int32_t> restored;    ///< of those, layers that are recomputed in full
  bool receives = false;                 ///< whether an activation arrives from another rank
  auto operator<=>(const RankContent&) const = default;
};

/// The contents of all ranks, equal ones once. Depends on pp, v and recompute only, so a search makes it once for all
/// other choices.
struct StageLayout {
  Recompute recompute;
  std::vector<RankContent> distinct;
  std::vector<std::int32_t> of_rank;     ///< index into `distinct`
  std::vector<std::int32_t> first_rank;  ///< per distinct content, the first rank that holds it
};
/// Looped: rank r holds chunks r, r + p, r + 2p, ... of the split (Megatron-LM's interleaving). V: r and 2p - 1 - r.
[[nodiscard]] StageLayout stage_layout(const Graph& graph, const std::vector<Chunk>& chunks,
                                       std::int32_t pipeline_stages, Recompute recompute,
                                       StagePlacement placement = StagePlacement::looped);

/// Costs of all ranks, equal ones once.
class StageTable {
 public:
  /// `blocks`: one BlockCost per block of the graph. The embedding's copy in a tied head on the same rank counts once.
  StageTable(const Graph& graph, const StageLayout& layout, const std::vector<BlockCost>& blocks);
  /// Costs that were found otherwise, one per distinct content of `layout`.
  StageTable(const StageLayout& layout, std::vector<StageCost> costs) : layout_(&layout), costs_(std::move(costs)) {}

  [[nodiscard]] std::size_t size() const { return layout_->of_rank.size(); }
  [[nodiscard]] const StageCost& operator[](std::size_t rank) const {
    return costs_[static_cast<std::size_t>(layout_->of_rank[rank])];
  }
  [[nodiscard]] const std::vector<StageCost>& distinct() const { return costs_; }
  [[nodiscard]] const StageLayout& layout() const { return *layout_; }

 private:
  const StageLayout* layout_;  ///< outlives the table
  std::vector<StageCost> costs_;
};

}  // namespace plumbline
