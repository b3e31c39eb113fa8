#include "core/program/parameter_copies.h"

#include <algorithm>

#include "core/plan/rank_group.h"
#include "core/sharding/shard_ranks.h"

namespace plumbline {
namespace {

/// Among the ranks that hold copies of the same experts' states.
std::int32_t expert_replica(const Strategy& strategy, std::int32_t rank) {
  const RankGroup all = rank_group(strategy, Axis::expert_gradient);
  const auto shard = static_cast<std::int32_t>(std::max<std::int64_t>(1, shard_ranks(strategy).expert));
  return rank / (all.stride * shard) % std::max(1, all.size / shard);
}

}  // namespace

bool answers_for(const Strategy& strategy, const LocalParameter& p, std::int32_t rank) {
  if (p.is_copy) return false;
  if (p.is_replicated && coordinate(strategy, Axis::tensor, rank) != 0) return false;
  if (p.is_expert)
    return strategy.zero_stage == 0 ? coordinate(strategy, Axis::expert_gradient, rank) == 0
                                    : expert_replica(strategy, rank) == 0;
  return coordinate(strategy, strategy.zero_stage == 0 ? Axis::gradient : Axis::replicate, rank) == 0;
}

}  // namespace plumbline
