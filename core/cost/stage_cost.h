#pragma once
/// \file stage_cost.h: what one pipeline rank does and holds per micro-batch: the sum over the blocks of its chunks.
/// Its sizes (block_sizes.h) and its times (block_cost.h) are summed apart, each once.
///
/// Model: identical blocks are priced once (block_cost.h) and counted; every execution of a block takes one of its
/// variants, which say what is kept and what is computed again. Every recompute mode is an assignment of variants to
/// executions. The host launches a micro-batch's kernels one after another and runs ahead of the device, so the longer
/// of both timelines counts; where it waits for each pass to end, a block starts when it was launched and the one
/// before it has ended: a head behind layers that the host holds up cannot begin early. Logits live from the head's
/// forward to its backward, which comes before that of any layer of the chunk: working sets of layers and logits never
/// are neighbours; nor are those of offloaded layers, which come first, and what the layers behind them keep. Units
/// that are gathered at once are neighbours: an embedding or head and a layer, or two layers. Source: the additivity of
/// a chain of blocks; the stream semantics of CUDA; two machines that take jobs in one order, as S. M. Johnson,
/// "Optimal two- and three-stage production schedules with setup times included", 1954. Not modelled: fusion across
/// block boundaries; the first micro-batch, of which the host is not ahead yet. Checked against:
/// tests/property/graph_cost_test.cpp (stages add up to the network).

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/cost/block_cost.h"
#include "core/machine/sites.h"
#include "core/plan/pipeline_schedule.h"
#include "core/plan/priced_values.h"
#include "core/plan/stage_split.h"

namespace plumbline {

/// What it holds and sends.
struct StageSizes {
  PassWires sent;   ///< by this rank per micro-batch
  Bytes copied{0};  ///< to the host, and back
  /// Per micro-batch, all chunks. Where logits are freed, of layers' working sets only what is more than the room that
  /// they leave.
  MemoryProfile memory;
  Bytes kept_output{0};               ///< per micro-batch, next to what is saved, where the stage sends its result on
  Bytes attention_scratch{0};         ///< the most of its blocks' backwards, beside tensors
  std::int64_t unturned_weights = 0;  ///< of its quantised weights, those whose products read one orientation
  Bytes boundary{0};                  ///< the activation that enters the rank's first chunk from another rank
  /// Of a stage, the gradient of that activation; zero where nothing before it is trained.
  Bytes boundary_gradient{0};
  Bytes transferred{0};  ///< the activation that leaves it to another rank, whose gradient comes back
  RankParameters parameters;
  ParameterTensors tensors;
  std::int64_t units = 0;  ///< what sharded parameters are gathered by: block executions, or several layers
  Flops model_flops{0};    ///< forward and backward, per micro-batch, on this rank
  Flops recompute_flops{0};
  std::int64_t regathered = 0;  ///< parameters that ZeRO-3 gathers for the replay and again for the gradients
  std::int32_t site = 0;        ///< what it computes on (core/machine/sites.h)
  std::int32_t link = 0;        ///< what it and the rank before it compute on together

  [[nodiscard]] WireBytes wire() const { return sent.forward + sent.backward; }
  /// What is gathered again, over what is gathered for a pass.
  [[nodiscard]] double regathered_share() const { return regathered_share(regathered, parameters); }
  [[nodiscard]] static double regathered_share(std::int64_t regathered, const RankParameters& of) {
    return static_cast<double>(regathered) / static_cast<double>(std::max<std::int64_t>(1, of.total()));
  }
};

/// What it takes.
struct StagePassTimes {
  PhaseTime forward;               ///< per micro-batch, all chunks of the rank
  PhaseTime backward;              ///< without recompute
  Picoseconds backward_weight{0};  ///< of backward's compute: weight gradients, which a schedule may put off
  PhaseTime recompute;
  CopyTimes copies;                  ///< of offloaded activations, beyond what they run alongside
  Picoseconds orthogonalisation{0};  ///< of all trained matrices, each once (optimizer_time.h)

  Picoseconds host_forward{0};          ///< until the host has launched the forward pass
  Picoseconds host_backward{0};         ///< until the host has launched the backward pass with its recompute
  Picoseconds host_backward_weight{0};  ///< of that, to launch what makes weight gradients
  Picoseconds forward_end{0};           ///< of a forward pass that finds the device idle, block after block
  Picoseconds backward_end{0};          ///< likewise, from the last block to the first

  bool host_waits = false;  ///< for each pass to end or for its message; else the host runs ahead

  /// What the device waits for the host. Where it runs ahead from pass to pass, only a micro-batch whose two passes
  /// take the host longer is held up, in the passes that launch late; where it waits for each pass, every such pass.
  [[nodiscard]] Picoseconds forward_wait() const;
  [[nodiscard]] Picoseconds backward_wait() const;
  /// Of backward_wait: of a backward that is split, in the part that makes weight gradients.
  [[nodiscard]] Picoseconds backward_weight_wait() const;
  [[nodiscard]] Picoseconds forward_total() const { return forward.total() + copies.forward + forward_wait(); }
  [[nodiscard]] Picoseconds backward_total() const {
    return backward.total() + recompute.total() + copies.backward + backward_wait();
  }
  /// Weight gradients, which a schedule may put off.
  [[nodiscard]] Picoseconds backward_weight_total() const { return backward_weight + backward_weight_wait(); }
  /// Both passes of a micro-batch with `replay` more recompute: at least that, whatever launching it takes.
  [[nodiscard]] Picoseconds passes_with(Picoseconds replay) const;
};

struct StageCost : StageSizes, StagePassTimes {};

/// Where every execution of a block runs, and how.
struct Arrangement {
  std::vector<Chunk> chunks;
  std::vector<std::int32_t> variants;  ///< by execution: index into the variants of its block
  std::int32_t layers_per_unit = 1;    ///< that are gathered and reduced together
  std::int32_t site_count = 1;         ///< of the cluster
  std::vector<std::int32_t> sites{};   ///< by execution: what it runs on; empty: site 0

  /// Where the costs of one execution of a block are: those of all blocks on site 0 come first, then those on site 1.
  [[nodiscard]] std::size_t cost_index(BlockId block, std::size_t execution, std::size_t block_count) const {
    const std::size_t site = sites.empty() ? 0 : static_cast<std::size_t>(sites[execution]);
    return site * block_count + static_cast<std::size_t>(block.index());
  }
};
/// `count` executions of a block that take the same variant. `block`: index into the costs of blocks.
struct VariantCount {
  std::int32_t block = 0;
  std::int32_t variant = 0;
  std::int32_t count = 0;
  auto operator<=>(const VariantCount&) const = default;
};
/// `count` units that hold the same executions of blocks.
struct UnitContent {
  std::vector<std::int32_t> blocks;  ///< as the costs of blocks, in order, as often as each runs
  std::int32_t count = 1;
  auto operator<=>(const UnitContent&) const = default;
};
/// `count` rows of layers that are replayed before the backward of the last of them, in order.
struct ReplayRow {
  std::vector<VariantCount> layers;
  std::int32_t count = 1;
  auto operator<=>(const ReplayRow&) const = default;
};
/// What one pipeline rank holds: how often each block runs there, all chunks together.
struct RankContent {
  std::vector<std::int32_t> executions;  ///< by BlockId, site after site: as the costs of blocks
  std::vector<VariantCount> variants;    ///< the same by variant, each pair of block and variant once, in order
  bool receives = false;                 ///< whether an activation arrives from another rank
  bool sends = false;                    ///< whether one leaves to another rank
  std::int32_t site = 0;                 ///< what the rank computes on
  std::int32_t link = 0;                 ///< what it and the rank before it compute on together
  std::vector<UnitContent> units{};      ///< where they hold several layers; empty: every execution is one
  std::vector<ReplayRow> rows{};         ///< layers that are replayed in a row, equal ones counted
  auto operator<=>(const RankContent&) const = default;
};

/// What one rank of a strategy holds of the executions of `chunk`. `variants`: by execution of the whole network.
[[nodiscard]] RankContent stage_content(const Graph& graph, const Strategy& strategy,
                                        const std::vector<std::int32_t>& variants, Chunk chunk,
                                        const StageSites& sites = {}, std::int32_t rank = 0);

/// Copies of offloaded activations that are on the device next to whatever acts: counted with what is priced, or left
/// to the rank, of whose chunks at most two copies are under way at once (stage_memory.h).
enum class CopiesUnderWay : std::uint8_t { counted, left_to_rank };

/// The sizes of some blocks, which outlive it: alone, or beside their times.
class BlockSizesList {
 public:
  template <class Block>
  explicit BlockSizesList(const std::vector<Block>& blocks) {
    for (const BlockSizes& block : blocks) blocks_.push_back(&block);
  }
  [[nodiscard]] std::size_t size() const { return blocks_.size(); }
  [[nodiscard]] const BlockSizes& operator[](std::size_t block) const { return *blocks_[block]; }

 private:
  std::vector<const BlockSizes*> blocks_;
};

/// What it takes, and what it costs in all; a tied head counts its copy of the embedding.
[[nodiscard]] StagePassTimes stage_pass_times(const RankContent& content, const std::vector<BlockCost>& blocks);
[[nodiscard]] StageCost stage_cost(const RankContent& content, const std::vector<BlockCost>& blocks,
                                   CopiesUnderWay copies = CopiesUnderWay::counted);

/// The contents of all ranks and of all stages, equal ones once. For uniform recompute it depends on pp, v and the mode
/// only, so a search makes it once for all other choices.
struct StageLayout {
  Arrangement arrangement;
  std::vector<RankContent> distinct;
  std::vector<std::int32_t> of_rank;     ///< index into `distinct`
  std::vector<std::int32_t> first_rank;  ///< per distinct content, the first rank that holds it
  // Ranks of several chunks: what each chunk holds, in the order of the network. Empty where a rank is one stage.
  std::vector<RankContent> distinct_stages;
  std::vector<std::int32_t> of_stage;  ///< index into `distinct_stages`

  /// What one pipeline stage holds, in the order of the network: a chunk of its rank, or the whole rank.
  [[nodiscard]] const RankContent& stage(std::size_t stage) const {
    return of_stage.empty() ? distinct[static_cast<std::size_t>(of_rank[stage])]
                            : distinct_stages[static_cast<std::size_t>(of_stage[stage])];
  }
};
/// Strategies of equal keys have the same layout of the same chunks.
[[nodiscard]] inline auto layout_key(const Strategy& s) {
  return std::tuple(values_priced_in<PricedIn::layouts>(s), placement(s.schedule));
}
/// Looped: rank r holds chunks r, r + p, r + 2p, ... of the split (Megatron-LM's interleaving). V: r and 2p - 1 - r.
/// `sites`: of the ranks; of an arrangement that names its own, none.
[[nodiscard]] StageLayout stage_layout(const Graph& graph, Arrangement arrangement, std::int32_t pipeline_stages,
                                       StagePlacement placement = StagePlacement::looped, const StageSites& sites = {});
/// Of a strategy: its ranks, where its schedule places stages, and what its ranks gather and reduce at once.
[[nodiscard]] StageLayout stage_layout(const Graph& graph, const Strategy& strategy, std::vector<Chunk> chunks,
                                       std::vector<std::int32_t> variants, const StageSites& sites = {});
[[nodiscard]] StageLayout stage_layout(const Graph& graph, const std::vector<Chunk>& chunks,
                                       std::int32_t pipeline_stages, Recompute recompute,
                                       StagePlacement placement = StagePlacement::looped, const StageSites& sites = {});

/// What all ranks of a layout have of something, equal ones once.
template <class Record>
class StageRecords {
 public:
  /// `ranks`, `stages`: one for each entry of `layout.distinct` and of `layout.distinct_stages`.
  StageRecords(const StageLayout& layout, std::vector<Record> ranks, std::vector<Record> stages)
      : layout_(&layout), ranks_(std::move(ranks)), stages_(std::move(stages)) {}
  /// A part of what `others` have.
  template <class Other>
  explicit StageRecords(const StageRecords<Other>& others)
      : layout_(&others.layout()),
        ranks_(others.distinct().begin(), others.distinct().end()),
        stages_(others.distinct_stages().begin(), others.distinct_stages().end()) {}

  [[nodiscard]] std::size_t size() const { return layout_->of_rank.size(); }
  [[nodiscard]] const Record& operator[](std::size_t rank) const {
    return ranks_[static_cast<std::size_t>(layout_->of_rank[rank])];
  }
  [[nodiscard]] const std::vector<Record>& distinct() const { return ranks_; }
  /// None where ranks hold one stage each.
  [[nodiscard]] const std::vector<Record>& distinct_stages() const { return stages_; }
  /// Of one pipeline stage in the order of the network: a chunk of its rank, or the whole rank.
  [[nodiscard]] const Record& stage(std::size_t stage) const {
    return stages_.empty() ? (*this)[stage] : stages_[static_cast<std::size_t>(layout_->of_stage[stage])];
  }
  [[nodiscard]] const StageLayout& layout() const { return *layout_; }

 private:
  const StageLayout* layout_;  ///< outlives the records
  std::vector<Record> ranks_;
  std::vector<Record> stages_;
};

/// `copies`: of ranks; those of single chunks are left to the rank. The embedding's copy in a tied head on the same
/// rank counts once.
using SizesTable = StageRecords<StageSizes>;
/// `blocks`: those of one block of the graph and site each.
[[nodiscard]] SizesTable sizes_table(const Graph& graph, const StageLayout& layout, const BlockSizesList& blocks,
                                     CopiesUnderWay copies = CopiesUnderWay::counted);

/// Costs of all ranks: their sizes as in a SizesTable, and what they take.
class StageTable : public StageRecords<StageCost> {
 public:
  /// `blocks`: one BlockCost per block of the graph and site.
  StageTable(const Graph& graph, const StageLayout& layout, const std::vector<BlockCost>& blocks,
             CopiesUnderWay copies = CopiesUnderWay::counted);
  /// For a layout whose ranks hold one stage each; `costs`: one per entry of `layout.distinct`.
  StageTable(const StageLayout& layout, std::vector<StageCost> costs) : StageRecords(layout, std::move(costs), {}) {}
};

}  // namespace plumbline
