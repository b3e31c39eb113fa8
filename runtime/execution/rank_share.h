#pragma once
/// \file rank_share.h: a rank's share of every block, and the groups of those with the other shares.
///
/// Checked against: tests/runtime/execution.

#include <algorithm>

#include "core/sharding/shard.h"
#include "runtime/execution/expert_routes.h"
#include "runtime/execution/rank_groups.h"

namespace plumbline {

struct RankShare {
  RankShare(const Strategy& strategy, const Training& training, RankGroups& of_rank)
      : shard(shard_of(strategy, training)), groups(of_rank) {}

  Shard shard;
  RankGroups& groups;

  /// Whether tensor-parallel ranks hold slices of the tokens between their regions.
  [[nodiscard]] bool slices_tokens() const {
    return shard.sequence_parallel == SequenceParallel::on && shard.tensor_parallel > 1;
  }
  [[nodiscard]] ExpertPlace expert_place() const {
    return {shard.expert_parallel, groups.index(Axis::expert), shard.expert_tensor_parallel,
            groups.index(Axis::expert_tensor)};
  }
  /// Tokens of one sequence.
  [[nodiscard]] std::int64_t local_sequence() const { return shard.lengths.sequence / shard.context_parallel; }
  /// Tokens of a micro-batch.
  [[nodiscard]] std::int64_t local_tokens() const { return shard.lengths.batch * local_sequence(); }
  /// The first of its tokens in a sequence.
  [[nodiscard]] std::int64_t first_position() const { return groups.index(Axis::context) * local_sequence(); }
};

/// Rows of a tensor, one for each token of a rank's micro-batch from `first` on.
struct TokenRows {
  std::int64_t rows = 0;
  std::int64_t first = 0;
  std::int64_t first_sequence = 0;  ///< of the micro-batch, in the global batch
};

/// Calls `act(place, first row, rows)` for each run of rows that lie in one sequence.
template <class Act>
void for_row_places(const RankShare& share, const TokenRows& of, Act act) {
  const std::int64_t length = share.local_sequence();
  for (std::int64_t row = 0; row < of.rows;) {
    const std::int64_t at = of.first + row;
    const std::int64_t count = std::min(of.rows - row, length - at % length);
    const RowPlace place{count, share.first_position() + at % length, share.shard.lengths.sequence,
                         of.first_sequence + at / length};
    act(place, row, count);
    row += count;
  }
}

}  // namespace plumbline
