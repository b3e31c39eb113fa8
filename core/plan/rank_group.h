#pragma once
/// \file rank_group.h: which ranks form which group: sizes and strides of every communicator of a strategy.
///
/// Model: ranks are numbered with tensor parallelism innermost, then context, data and pipeline parallelism, so that
/// the groups that speak most sit closest. Experts are laid over the same ranks as expert-tensor, expert, expert-data.
/// Source: Megatron-LM's default order tp-cp-ep-dp-pp.

#include "core/plan/axis.h"
#include "core/plan/strategy.h"

namespace plumbline {

/// `size` ranks, `stride` apart.
struct RankGroup {
  std::int32_t size = 1;
  std::int32_t stride = 1;
  bool operator==(const RankGroup&) const = default;
};

/// `gradient`: data and context parallel ranks together, over which dense gradients are reduced; `shard` and
/// `replicate` divide it for hybrid sharding. `secondary_shard`: neighbours of a shard group, from which a backward
/// gathers parameters.
[[nodiscard]] RankGroup rank_group(const Strategy& strategy, Axis axis);
/// Whether a strategy has groups of the axis, if only of one rank each: secondary ones where it names their size.
[[nodiscard]] bool forms(const Strategy& strategy, Axis axis);

/// Where `rank` is in its group of `axis`, counted from 0.
[[nodiscard]] std::int32_t coordinate(const Strategy& strategy, Axis axis, std::int32_t rank);

}  // namespace plumbline
