#pragma once
/// \file shard.h: what one rank holds of a tensor under a strategy.
///
/// Model: tensor parallelism divides heads, ffn and vocabulary; sequence parallelism the tokens of the regions between
/// (arXiv:2205.05198 section 4.2); context parallelism every sequence, or inside attention, where its ranks exchange
/// heads (arXiv:2309.14509), the heads; expert parallelism the experts. Routed tokens do not shrink with
/// expert parallelism: the all-to-all trades them. A dimension of fewer units (kv heads) than ranks is replicated.
/// Divisions round up, as the heaviest rank decides. Not modelled: routing imbalance that nobody measured (a factor on
/// top, see core/cost/calibration.h).

#include "core/graph/block.h"
#include "core/plan/strategy.h"
#include "core/quantity/number_format.h"
#include "core/sharding/kept_forms.h"
#include "core/training/training.h"

namespace plumbline {

/// Whether layers may be replayed in a row (keep_rule.h).
enum class JoinedLayers : std::uint8_t { none, some };

/// Everything about a strategy and recipe that the cost of a block depends on. Data parallelism, pipeline depth and
/// ZeRO do not appear: they act on whole stages.
struct Shard {
  SymbolValues lengths;  ///< micro-batch and full sequence length
  std::int32_t tensor_parallel = 1;
  std::int32_t context_parallel = 1;
  std::int32_t expert_parallel = 1;
  std::int32_t expert_tensor_parallel = 1;
  SequenceParallel sequence_parallel = SequenceParallel::off;
  FlashAttention flash_attention = FlashAttention::on;
  PrecisionFormats formats = precision_formats(PrecisionRecipe::bf16);
  /// Rows that this rank's experts get beyond those that its own tokens choose: a routing that is known; 0 in balance.
  std::int64_t extra_rows = 0;
  KeptForms kept;
  bool orthogonalises = false;  ///< whether the optimizer orthogonalises matrices (core/training/optimizer.h)
  RecomputeModules recomputed;  ///< parts of a layer that run again
  ContextCommunication context_communication = ContextCommunication::ring;
  JoinedLayers joined_layers = JoinedLayers::none;

  /// Ranks that divide the tokens between tensor-parallel regions.
  [[nodiscard]] std::int64_t sequence_ranks() const {
    return sequence_parallel == SequenceParallel::on ? tensor_parallel : 1;
  }
  /// Whether context-parallel ranks scatter the heads of attention and gather its sequence.
  [[nodiscard]] bool exchanges_heads() const {
    return context_parallel > 1 && context_communication == ContextCommunication::all_to_all;
  }
  /// Among how many ranks the heads of attention are divided.
  [[nodiscard]] std::int64_t head_ranks() const {
    return std::int64_t{tensor_parallel} * (exchanges_heads() ? context_parallel : 1);
  }
  /// Among how many ranks the queries of attention are divided.
  [[nodiscard]] std::int64_t query_ranks() const { return exchanges_heads() ? 1 : context_parallel; }
  /// Whether ranks hand tokens to each other's experts.
  [[nodiscard]] bool experts_exchange() const { return expert_parallel * expert_tensor_parallel > 1; }
};

/// As the textbook and the runtime keep tensors.
[[nodiscard]] Shard shard_of(const Strategy& strategy, const Training& training);

[[nodiscard]] constexpr std::int64_t divided(std::int64_t amount, std::int64_t ranks) {
  return (amount + ranks - 1) / ranks;
}
/// The next larger amount that `ranks` hold in equal parts.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t amount, std::int64_t ranks) {
  return divided(amount, ranks) * ranks;
}

/// Elements of `tensor` on one rank.
[[nodiscard]] std::int64_t local_elements(const Tensor& tensor, const Shard& shard);
/// Elements before the last dimension: tokens, routed tokens, or rows. As on one rank, except that tensors in a
/// tensor-parallel region hold all tokens of the context-parallel slice.
[[nodiscard]] std::int64_t local_rows(const Tensor& tensor, const Shard& shard);
/// The part of a partitioned dimension of `size` in `units` (0: any) on one tensor-parallel rank.
[[nodiscard]] std::int64_t local_width(std::int64_t size, std::int64_t units, std::int64_t ranks);
[[nodiscard]] NumberFormat storage_format(const Tensor& tensor, const PrecisionFormats& formats);
[[nodiscard]] Bytes local_bytes(const Tensor& tensor, const Shard& shard);
/// Whether tensor-parallel ranks divide its tokens (sequence parallelism).
[[nodiscard]] bool is_sliced(const Tensor& tensor, const Shard& shard);
/// Of a tensor that is, with the rows of all tensor-parallel ranks.
[[nodiscard]] Bytes gathered_bytes(const Tensor& tensor, const Shard& shard);
/// Of a routed tensor's width, a row for each choice of this rank's own tokens: before the all-to-all, or back from it.
[[nodiscard]] Bytes chosen_bytes(const Tensor& routed, const Shard& shard);

}  // namespace plumbline
