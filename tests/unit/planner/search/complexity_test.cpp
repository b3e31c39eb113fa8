// Which of two plans is simpler.

#include "planner/search/complexity.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

Complexity of(const Strategy& strategy, Bytes peak = 10_GiB) { return complexity(strategy, peak); }

TEST_CASE("a plan is simpler with fewer kinds of parallelism, whatever else it has") {
  Strategy one;
  one.tensor_parallel = 8;
  one.recompute = {RecomputeMode::full};
  one.zero_stage = 3;
  Strategy two;
  two.tensor_parallel = two.pipeline_stages = 2;
  CHECK(of(one) < of(two));
}

TEST_CASE("an empty chunk, virtual stages and a list of layers make a plan less simple, in this order") {
  Strategy plain;
  plain.pipeline_stages = 4;
  plain.schedule = Schedule::interleaved;
  plain.virtual_stages = 2;
  Strategy listed = plain;
  listed.layers_per_stage = {4, 4, 4, 4, 4, 4, 4, 3};
  Strategy more = plain;
  more.virtual_stages = 4;
  Strategy empty = plain;
  empty.layers_per_stage = {4, 4, 4, 4, 4, 4, 4, 0};
  CHECK(of(plain) < of(listed));
  CHECK(of(listed) < of(more));
  CHECK(of(more) < of(empty));
}

TEST_CASE("of plans that are equally simple the leaner comes first; sharing optimizer states is never complex") {
  Strategy whole;
  Strategy shared = whole;
  shared.zero_stage = 1;
  CHECK(of(whole) == of(shared));
  CHECK(of(shared, 9_GiB) < of(whole));
}

TEST_CASE("degrees that are no power of two make a plan less simple, but not fewer kinds of parallelism") {
  Strategy even;
  even.data_parallel = 8;
  even.pipeline_stages = 2;
  Strategy odd = even;
  odd.data_parallel = 6;
  Strategy flat;
  flat.data_parallel = 12;
  CHECK(of(even) < of(odd));
  CHECK(of(flat) < of(even));
}

// 8 192 tokens over two ranks are published, 2 048 over two are not; nor are 13 virtual stages, or a stage of no layer.
TEST_CASE("what no published layout has is unusual") {
  Plan plan;
  plan.training.sequence_length = 8192;
  plan.strategy.context_parallel = 2;
  plan.strategy.pipeline_stages = 2;
  plan.strategy.schedule = Schedule::interleaved;
  plan.strategy.virtual_stages = 4;
  CHECK(unusual_choices(plan).empty());
  plan.training.sequence_length = 2048;
  CHECK(unusual_choices(plan) == std::vector<std::string>{"context parallelism of 1024 tokens a rank"});
  plan.strategy.context_parallel = 1;
  plan.strategy.virtual_stages = 13;
  CHECK(unusual_choices(plan) == std::vector<std::string>{"13 virtual stages"});
  plan.strategy.virtual_stages = 2;
  plan.strategy.layers_per_stage = {4, 4, 4, 0};
  CHECK(unusual_choices(plan) == std::vector<std::string>{"a pipeline chunk without a layer"});
}

}  // namespace
}  // namespace plumbline
