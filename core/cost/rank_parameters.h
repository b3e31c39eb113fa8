#pragma once
/// \file rank_parameters.h: how many parameters of each kind one rank holds, and the bytes that they and their training
/// state take under ZeRO.
///
/// Model: weights, gradients, master copy and optimizer state are divided over the shard group from ZeRO stage 3, 2, 1
/// and 1 on; gradients, master copy and state exist only for trained parameters; experts are divided by expert
/// parallelism and their states over the expert-data ranks; replicated parameters (norms, routers) by nothing.
/// Source: Rajbhandari et al., "ZeRO", arXiv:1910.02054, section 3.1, figure 1 and table 1.
/// Not modelled: padding of flat buckets (below 1e-6 of the state).
/// Checked against: tests/reference/zero_table1_test.cpp (table 1 to its last digit, formulas to 1e-6).

#include "core/cost/shard.h"
#include "core/training/optimizer.h"

namespace plumbline {

struct RankParameters {
  ParameterSplit dense;  ///< all dense parameters on the rank, frozen ones too
  ParameterSplit dense_trained;
  ParameterSplit expert;
  ParameterSplit expert_trained;
  std::int64_t tied = 0;             ///< of `dense`: copies of the embedding (count only where the embedding is absent)
  std::int64_t product_weights = 0;  ///< weights of products in fp8, of which copies are kept
  /// Of `dense_trained`: held whole by every tensor-parallel rank, but made from a part of the tokens or heads, so that
  /// their gradients are summed over those ranks once per step (norms under sequence parallelism).
  std::int64_t partial_trained = 0;

  RankParameters& operator+=(const RankParameters& other);
  [[nodiscard]] RankParameters operator*(std::int64_t count) const;
  [[nodiscard]] std::int64_t total() const { return dense.total() + expert.total(); }
  [[nodiscard]] std::int64_t trained() const { return dense_trained.total() + expert_trained.total(); }
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

/// `tied` parameters are counted in; a stage that holds the embedding too subtracts them (see `without_tied`).
[[nodiscard]] RankParameters rank_parameters(const Block& block, const Shard& shard);
/// The same without the copies of the embedding.
[[nodiscard]] RankParameters without_tied(RankParameters parameters);
/// What a part of a rank adds to the rank's parameters: no copy of the embedding where the rank holds the embedding
/// itself.
[[nodiscard]] RankParameters part_of_rank(const RankParameters& part, const RankParameters& rank);

struct ModelState {
  Bytes weights{0};
  Bytes gradients{0};
  Bytes master_weights{0};
  Bytes optimizer_state{0};
  [[nodiscard]] Bytes total() const { return weights + gradients + master_weights + optimizer_state; }
};

/// Ranks over which each kind of parameter's states are divided.
struct ShardRanks {
  std::int64_t dense = 1;
  std::int64_t expert = 1;
};

[[nodiscard]] ModelState model_state(const RankParameters& parameters, const PrecisionFormats& formats,
                                     Optimizer optimizer, std::int32_t zero_stage, ShardRanks ranks);

}  // namespace plumbline
