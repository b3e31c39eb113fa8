#include "core/sharding/shard_ranks.h"

#include <algorithm>
#include <numeric>

namespace plumbline {

ShardRanks replica_ranks(const Strategy& s) {
  return {std::max<std::int64_t>(1, s.gradient_ranks()), std::max<std::int64_t>(1, s.expert_gradient_ranks())};
}

ShardRanks shard_ranks(const Strategy& s) {
  if (s.zero_stage == 0) return {1, 1};
  const std::int64_t expert = std::max<std::int64_t>(1, s.expert_gradient_ranks());
  // A hybrid group of experts is the largest that divides both the shard group and the ranks that hold these experts.
  return {s.shard_group, s.shard_group == s.gradient_ranks() ? expert : std::gcd(s.shard_group, expert)};
}

ShardRanks secondary_ranks(const Strategy& s) {
  const ShardRanks all = shard_ranks(s);
  if (s.secondary_shard_group == 1 || s.zero_stage < 3) return all;
  const std::int64_t expert = std::gcd<std::int64_t>(s.secondary_shard_group, all.expert);
  return {s.secondary_shard_group, expert > 1 ? expert : all.expert};
}

}  // namespace plumbline
