#pragma once
/// \file rank_parameters.h: how many parameters of each kind one rank holds, and the bytes that they and their training
/// state take under ZeRO.
///
/// Model: weights, gradients, master copy and optimizer state are divided over the shard group from ZeRO stage 3, 2, 1
/// and 1 on; gradients, master copy and state exist only for trained parameters; experts are divided by expert
/// parallelism and their states over the expert-data ranks; replicated parameters (norms, routers) by nothing. The
/// parameters of a unit (one execution of a block, or several layers) lie one after another in sections, by who shares
/// them and whether they are trained; each section is padded to a multiple of its data-parallel ranks, so that all of
/// them send and hold equal parts. Source: Rajbhandari et al., "ZeRO", arXiv:1910.02054, section 3.1, figure 1 and
/// table 1; PyTorch's FSDP pads alike. Checked against: tests/reference/zero_table1_test.cpp (table 1 to its last
/// digit, formulas to 1e-6); tests/runtime/execution (bytes that a run holds and sends, exactly).

#include <vector>

#include "core/sharding/factored_squares.h"
#include "core/sharding/layer_matrix.h"
#include "core/sharding/shard.h"
#include "core/sharding/shard_ranks.h"
#include "core/training/optimizer.h"

namespace plumbline {

/// The sections of one unit, in parameters: of one execution of a block, or of several layers.
struct UnitParameters {
  BlockKind kind = BlockKind::layer;
  std::int64_t count = 1;  ///< units that are alike
  std::int64_t dense_trained = 0;
  std::int64_t matrix_trained = 0;  ///< of it, weight matrices inside the layers
  std::int64_t dense_frozen = 0;
  std::int64_t expert_trained = 0;
  std::int64_t expert_frozen = 0;
  /// A tied embedding whose other copy another rank holds: by itself, so that both ends divide it alike.
  std::int64_t end_trained = 0;
  std::int64_t end_frozen = 0;
  // Of the trained parameters of each section, those whose states some optimizers quantize:
  QuantizedParameters dense_quantized;
  QuantizedParameters expert_quantized;
  // Of the trained parameters of each section, what ranks sum for an optimizer that factors squared gradients:
  FactoredSums dense_sums;
  FactoredSums expert_sums;
  FactoredSums end_sums;
  /// An embedding that the head of the same pass reads too: whole from one to the other.
  bool stays = false;

  /// Of one unit, padded.
  [[nodiscard]] std::int64_t dense_trained_padded(std::int64_t ranks) const {
    return padded(dense_trained, ranks) + padded(end_trained, ranks);
  }
  [[nodiscard]] std::int64_t dense_padded(std::int64_t ranks) const {
    return dense_trained_padded(ranks) + padded(dense_frozen, ranks) + padded(end_frozen, ranks);
  }
  [[nodiscard]] std::int64_t trained_padded(ShardRanks ranks) const {
    return dense_trained_padded(ranks.dense) + padded(expert_trained, ranks.expert);
  }
  [[nodiscard]] std::int64_t whole_padded(ShardRanks ranks) const {
    return dense_padded(ranks.dense) + padded(expert_trained, ranks.expert) + padded(expert_frozen, ranks.expert);
  }
};

/// One rank's part of all, of which matrices have their share.
[[nodiscard]] ParameterSplit divided(ParameterSplit split, std::int64_t ranks);

struct RankParameters {
  ParameterSplit dense;  ///< all dense parameters on the rank, frozen ones too
  ParameterSplit dense_trained;
  ParameterSplit expert;
  ParameterSplit expert_trained;
  std::int64_t tied = 0;             ///< of `dense`: copies of the embedding (count only where the embedding is absent)
  std::int64_t tied_trained = 0;     ///< of `tied`
  std::int64_t tied_squares = 0;     ///< of `tied_trained`, as ParameterSplit::squares
  std::int64_t product_weights = 0;  ///< weights of products in fp8, of which copies are kept
  /// Of `dense_trained`: held whole by every tensor-parallel rank, but made from a part of the tokens or heads, so that
  /// their gradients are summed over those ranks once per step (norms under sequence parallelism).
  std::int64_t partial_trained = 0;
  // Of trained dense weight matrices inside the layers, what optimizers that need them whole gather:
  std::int64_t divided_matrices = 0;        ///< of those that tensor-parallel ranks divide, this rank's parts
  std::int64_t largest_divided_matrix = 0;  ///< the largest of these parts
  std::int64_t largest_matrix_unit = 0;     ///< most that a layer trains
  std::int64_t largest_expert_unit = 0;     ///< the same of experts
  std::int64_t largest_expert_matrix = 0;   ///< this rank's experts' part of the largest tensor of matrices
  std::vector<UnitParameters> units;        ///< the same, unit by unit

  /// Without `units`.
  [[nodiscard]] RankParameters sums() const;
  RankParameters& operator+=(const RankParameters& other) { return add(other, 1); }
  RankParameters& add(const RankParameters& other, std::int64_t count);
  [[nodiscard]] std::int64_t total() const { return dense.total() + expert.total(); }
  [[nodiscard]] std::int64_t trained() const { return dense_trained.total() + expert_trained.total(); }
  /// The totals of `part_of_rank`, of a part of `rank`.
  [[nodiscard]] std::int64_t total_on(const RankParameters& rank) const {
    return total() - (rank.tied == 0 ? tied : 0);
  }
  [[nodiscard]] std::int64_t trained_on(const RankParameters& rank) const {
    return trained() - (rank.tied == 0 ? tied_trained : 0);
  }
};

/// Dense tensors of a rank, for stacks that gather and reduce them one by one.
struct ParameterTensors {
  std::int64_t gathered = 0;  ///< large enough not to be kept whole
  std::int64_t trained = 0;   ///< of all, those whose gradients are reduced

  ParameterTensors& operator+=(const ParameterTensors& other);
  [[nodiscard]] ParameterTensors operator*(std::int64_t count) const { return {gathered * count, trained * count}; }
};
/// `gathered_from`: elements on a rank from which on a tensor is gathered.
[[nodiscard]] ParameterTensors parameter_tensors(const Block& block, const Shard& shard, double gathered_from);

/// Of executions whose parameters lie together: one unit of all of theirs.
[[nodiscard]] RankParameters one_unit(RankParameters parameters);
/// `tied` parameters are counted in; a stage that holds the embedding too subtracts them (see `without_tied`).
[[nodiscard]] RankParameters rank_parameters(const Block& block, const Shard& shard);
/// The same without the copies of the embedding.
[[nodiscard]] RankParameters without_tied(RankParameters parameters);
/// What a part of a rank adds to the rank's parameters: no copy of the embedding where the rank holds the embedding
/// itself, and the embedding in a section of its own where the rank has it there.
[[nodiscard]] RankParameters part_of_rank(const RankParameters& part, const RankParameters& rank);
/// Of the rank with the embedding, where another rank holds `copy`.
[[nodiscard]] RankParameters with_copied_embedding(RankParameters parameters, const RankParameters& copy);
/// Of a rank whose head is the embedding and runs in the same pass.
[[nodiscard]] RankParameters with_embedding_kept(RankParameters parameters);
/// With the padding of every unit's sections among `replicas`, the ranks that hold the same parameters. It counts as
/// other parameters than matrices; `units` are left out.
[[nodiscard]] RankParameters padded(const RankParameters& parameters, ShardRanks replicas);

/// Parameters of units that are whole at once, padded, with those of units that stay.
struct WholeUnits {
  std::int64_t two = 0;  ///< of two neighbours: two layers, or a layer and an embedding or head
  std::int64_t one = 0;  ///< without prefetch
  std::int64_t two_trained = 0;

  [[nodiscard]] std::int64_t gathered(ParameterPrefetch prefetch) const {
    return prefetch == ParameterPrefetch::on ? two : one;
  }
};
/// The most that may be whole at once.
[[nodiscard]] WholeUnits whole_units(const RankParameters& parameters, ShardRanks replicas);

/// Values that an optimizer keeps on the rank that holds most of them, where states are divided among `ranks`: weight
/// matrices inside the layers, or what has quantized states, are before the rest of a section, so that the last rank
/// holds most of the rest. Quantized states count as values of four bytes, with room for blocks that are not full.
[[nodiscard]] std::int64_t most_states(const RankParameters& parameters, Optimizer optimizer, ShardRanks replicas,
                                       ShardRanks ranks);

struct ModelState {
  Bytes weights{0};
  Bytes gradients{0};
  Bytes master_weights{0};
  Bytes optimizer_state{0};
  [[nodiscard]] Bytes total() const { return weights + gradients + master_weights + optimizer_state; }
};

/// `parameters`: padded where that counts. `ranks`: over which states are divided.
[[nodiscard]] ModelState model_state(const RankParameters& parameters, const PrecisionFormats& formats,
                                     Optimizer optimizer, std::int32_t zero_stage, ShardRanks ranks);

}  // namespace plumbline
