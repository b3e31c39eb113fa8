// Which plans of a ranking are shown as one.

#include "planner/search/equivalent.h"

#include <algorithm>

#include "tests/catch.h"

namespace plumbline {
namespace {

RankedStrategy plan(std::int64_t milliseconds, Bytes peak) {
  RankedStrategy one;
  one.strategy.pipeline_stages = 4;
  one.strategy.schedule = Schedule::interleaved;
  one.step_time = Picoseconds(milliseconds * 1'000'000'000);
  one.peak_memory = peak;
  return one;
}

TEST_CASE("virtual stages, ZeRO stages and recompute of equal time are alike, whatever memory they leave") {
  const RankedStrategy one = plan(1000, 70_GiB);
  RankedStrategy other = plan(1009, 65_GiB);
  other.strategy.virtual_stages = 4;
  other.strategy.zero_stage = 2;
  other.strategy.recompute = {RecomputeMode::selective};
  CHECK(is_like(other, one));
  other.may_not_fit = true;
  CHECK(!is_like(other, one));
}

TEST_CASE("a slower plan that needs no less memory is like the faster one, one that needs less is not") {
  const RankedStrategy one = plan(1000, 70_GiB);
  CHECK(is_like(plan(1100, 70_GiB), one));
  CHECK(is_like(plan(1100, 75_GiB), one));
  CHECK(!is_like(plan(1100, 69_GiB), one));
}

TEST_CASE("plans of other degrees, another micro-batch or another question are not alike") {
  const RankedStrategy one = plan(1000, 70_GiB);
  RankedStrategy other = one;
  other.strategy.tensor_parallel = 2;
  CHECK(!is_like(other, one));
  other = one;
  other.strategy.micro_batch = 2;
  CHECK(!is_like(other, one));
  other = one;
  other.question = 1;
  CHECK(!is_like(other, one));
}

TEST_CASE("the simulated step tells, where there is one") {
  const RankedStrategy one = plan(1000, 70_GiB);
  RankedStrategy other = plan(1000, 65_GiB);
  other.simulated = Picoseconds(1100 * 1'000'000'000LL);
  CHECK(!is_like(other, one));
}

// 1.000, 1.008 and 1.016 s, each leaner: the third is like the second, but not like the first.
TEST_CASE("a fold keeps every plan once, behind the first that it is like") {
  RankedStrategy far = plan(1004, 70_GiB);
  far.strategy.micro_batch = 2;
  const FoldedRanking ranking = folded({plan(1000, 70_GiB), far, plan(1008, 65_GiB), plan(1016, 60_GiB)});
  REQUIRE(ranking.first.size() == 3);
  REQUIRE(ranking.rest.size() == 3);
  CHECK(ranking.first[0].step_time == Picoseconds(1'000'000'000'000));
  CHECK(ranking.first[1].strategy.micro_batch == 2);
  CHECK(ranking.first[2].step_time == Picoseconds(1'016'000'000'000));
  REQUIRE(ranking.rest[0].size() == 1);
  CHECK(ranking.rest[0].front().step_time == Picoseconds(1'008'000'000'000));
  CHECK((ranking.rest[1].empty() && ranking.rest[2].empty()));
}

// 13 virtual stages gain 0.9 % over 2, and an empty chunk 0.5 %; a plan of another shape is between them.
TEST_CASE("the simplest of the plans that are as fast stands for them, and rows are in its order") {
  RankedStrategy many = plan(1000, 70_GiB);
  many.strategy.virtual_stages = 13;
  RankedStrategy empty = plan(1004, 70_GiB);
  empty.strategy.virtual_stages = 2;
  empty.strategy.layers_per_stage = {1, 1, 1, 1, 1, 1, 2, 0};
  RankedStrategy between = plan(1005, 70_GiB);
  between.strategy.micro_batch = 2;
  RankedStrategy plain = plan(1009, 70_GiB);
  plain.strategy.virtual_stages = 2;
  RankedStrategy slower = plan(1011, 70_GiB);
  slower.strategy.virtual_stages = 1;
  FoldedRanking ranking = folded({many, empty, between, plain, slower});
  REQUIRE(ranking.first.size() == 2);
  lead_with_simplest(ranking);
  CHECK(ranking.first[0].strategy.micro_batch == 2);
  CHECK(ranking.first[1].strategy == plain.strategy);
  REQUIRE(ranking.rest[1].size() == 3);
  CHECK(std::count_if(ranking.rest[1].begin(), ranking.rest[1].end(),
                      [&](const RankedStrategy& one) { return one.strategy == many.strategy; }) == 1);
}

// Context parallelism gains 0.4 % and 12 data-parallel ranks 0.2 %; what is 1.2 % slower stays behind.
TEST_CASE("of rows that are as fast the simplest comes first") {
  RankedStrategy context = plan(1000, 70_GiB);
  context.strategy.context_parallel = 2;
  RankedStrategy odd = plan(1002, 70_GiB);
  odd.strategy.data_parallel = 12;
  RankedStrategy plain = plan(1004, 70_GiB);
  plain.strategy.data_parallel = 8;
  RankedStrategy single = plan(1012, 70_GiB);
  single.strategy.pipeline_stages = 1;
  FoldedRanking ranking = folded({context, odd, plain, single});
  REQUIRE(ranking.first.size() == 4);
  lead_with_simplest(ranking);
  CHECK(ranking.first[0].strategy == plain.strategy);
  CHECK(ranking.first[1].strategy == odd.strategy);
  CHECK(ranking.first[2].strategy == context.strategy);
  CHECK(ranking.first[3].strategy == single.strategy);
}

}  // namespace
}  // namespace plumbline
