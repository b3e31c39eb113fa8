#pragma once
/// \file stage_cost.h: what one pipeline rank does and holds per micro-batch: the sum over the blocks of its chunks.
///
/// Model: identical blocks are priced once (block_cost.h) and counted; recompute chooses per layer what is kept and
/// what is computed again. Source: the additivity of a chain of blocks.
/// Not modelled: fusion across block boundaries.

#include <cstdint>
#include <vector>

#include "core/cost/block_cost.h"
#include "core/plan/stage_split.h"

namespace plumbline {

struct StageCost {
  PhaseTime forward;   ///< per micro-batch, all chunks of the rank
  PhaseTime backward;  ///< without recompute
  PhaseTime recompute;
  Bytes saved{0};    ///< per micro-batch, all chunks
  Bytes working{0};  ///< largest operator, plus what recomputing a layer restores
  Bytes logits{0};
  Bytes boundary{0};  ///< the activation that enters the rank's first chunk from another rank
  RankParameters parameters;
  std::int64_t units = 0;                    ///< block executions: what sharded parameters are gathered by
  std::int64_t largest_unit_parameters = 0;  ///< of one block: what a gather materialises
  std::int64_t largest_unit_trained = 0;
  Flops model_flops{0};  ///< forward and backward, per micro-batch, on this rank
  Flops recompute_flops{0};
  WireBytes wire;  ///< sent by this rank per micro-batch

  [[nodiscard]] Picoseconds forward_total() const { return forward.total(); }
  [[nodiscard]] Picoseconds backward_total() const { return backward.total() + recompute.total(); }
};

/// How often each block runs in one chunk, and how often with full recompute under `every_nth`.
struct ChunkContent {
  std::vector<std::int32_t> executions;  ///< by BlockId
  std::vector<std::int32_t> recomputed;  ///< of those, layers that a recompute mode restores in full
  bool starts_network = false;
};
/// Content of every chunk of a split, for one recompute choice.
[[nodiscard]] std::vector<ChunkContent> chunk_contents(const Graph& graph, const std::vector<Chunk>& chunks,
                                                       Recompute recompute);

/// Cost per pipeline rank: rank r holds chunks r, r + p, r + 2p, ... (Megatron-LM's interleaving).
/// `blocks`: one BlockCost per block of the graph. A stage that holds the embedding counts its tied copy once.
[[nodiscard]] std::vector<StageCost> stage_costs(const Graph& graph, const std::vector<BlockCost>& blocks,
                                                 const std::vector<ChunkContent>& chunks, std::int32_t pipeline_stages,
                                                 Recompute recompute);

}  // namespace plumbline
