#include "core/sharding/shard_ranks.h"

#include "core/plan/rank_group.h"
#include "tests/catch.h"

namespace plumbline::shard_ranks_test {
namespace {

using Ranks = std::pair<std::int64_t, std::int64_t>;
Ranks of(const ShardRanks& ranks) { return {ranks.dense, ranks.expert}; }

Strategy twelve_ranks(std::int32_t expert_parallel, std::int32_t secondary) {
  Strategy s;
  s.data_parallel = s.shard_group = 12;
  s.zero_stage = 3;
  s.expert_parallel = expert_parallel;
  s.secondary_shard_group = secondary;
  return s;
}

TEST_CASE("without a secondary group a backward gathers over the shard group") {
  CHECK(of(secondary_ranks(twelve_ranks(1, 1))) == Ranks{12, 12});
  Strategy replicated = twelve_ranks(1, 1);
  replicated.zero_stage = 0;
  CHECK(of(secondary_ranks(replicated)) == Ranks{1, 1});
}

// Of 12 ranks in 2, 4 and 6 parts of the experts, 6, 3 and 2 hold the same ones. A group of 4 has 2 of the first six;
// of the three none but all; of the two both.
TEST_CASE("experts are gathered over the largest group that divides the secondary one and their own") {
  CHECK(of(secondary_ranks(twelve_ranks(1, 4))) == Ranks{4, 4});
  CHECK(of(secondary_ranks(twelve_ranks(2, 4))) == Ranks{4, 2});
  CHECK(of(secondary_ranks(twelve_ranks(2, 3))) == Ranks{3, 3});
  CHECK(of(secondary_ranks(twelve_ranks(4, 4))) == Ranks{4, 3});
  CHECK(of(secondary_ranks(twelve_ranks(4, 3))) == Ranks{3, 3});
  CHECK(of(secondary_ranks(twelve_ranks(6, 4))) == Ranks{4, 2});
}

// Tensor-parallel ranks are innermost: ranks 1, 3, 5 and 7, 9, 11 of twelve in parts of three.
TEST_CASE("a secondary group is neighbours of a shard group") {
  Strategy s = twelve_ranks(1, 3);
  s.data_parallel = s.shard_group = 6;
  s.tensor_parallel = 2;
  CHECK(forms(s, Axis::secondary_shard));
  CHECK(rank_group(s, Axis::secondary_shard) == RankGroup{3, 2});
  CHECK(coordinate(s, Axis::secondary_shard, 5) == 2);
  CHECK(coordinate(s, Axis::secondary_shard, 7) == 0);
  s.secondary_shard_group = 1;
  CHECK_FALSE(forms(s, Axis::secondary_shard));
  CHECK(forms(s, Axis::shard));
}

}  // namespace
}  // namespace plumbline::shard_ranks_test
