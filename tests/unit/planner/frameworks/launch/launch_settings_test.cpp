// What launch files say, to a strategy and back.

#include "planner/frameworks/launch/launch_settings.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

// 3 nodes of 8 GPUs, tp 2, pp 3: 24 / 6 = 4 data-parallel ranks; 48 / (4 * 2) = 6 micro-batches.
TEST_CASE("what files do not say follows from what they do") {
  LaunchSettings s;
  s.nodes = 3;
  s.devices_per_node = 8;
  s.tensor_parallel = 2;
  s.pipeline_stages = 3;
  s.micro_batch = 2;
  s.global_batch = 48;
  s.zero_stage = 1;
  derive_missing(s);
  CHECK(s.devices == 24);
  CHECK(s.data_parallel == 4);
  CHECK(s.micro_batches == 6);
  CHECK(s.schedule == Schedule::one_f_one_b);
  CHECK(s.shard_group == 4);
  CHECK(strategy_of(s).devices() == 24);
}

TEST_CASE("numbers that do not divide leave what follows from them open") {
  LaunchSettings s;
  s.devices = 10;
  s.tensor_parallel = 3;
  s.micro_batch = 2;
  s.global_batch = 16;
  derive_missing(s);
  CHECK(!s.data_parallel);
  CHECK(!s.micro_batches);
  CHECK(!s.nodes);
  s = {};
  s.nodes = std::int64_t{1} << 40;
  s.devices_per_node = std::int64_t{1} << 40;
  derive_missing(s);
  CHECK(!s.devices);
}

// 6 data-parallel times 2 context-parallel ranks. What would not fit in 32 bits is counted all the same.
TEST_CASE("settings say over how many ranks sharded states lie, and whether there are several copies") {
  LaunchSettings s;
  CHECK(gradient_ranks(s) == 1);
  s.data_parallel = 6;
  s.context_parallel = 2;
  s.zero_stage = 3;
  CHECK(gradient_ranks(s) == 12);
  CHECK(sharding_ranks(s) == 12);
  CHECK_FALSE(is_hybrid(s));
  s.shard_group = 4;
  CHECK(sharding_ranks(s) == 4);
  CHECK(is_hybrid(s));
  s.zero_stage = 0;
  CHECK_FALSE(is_hybrid(s));
  s.data_parallel = s.context_parallel = 1'000'000;
  CHECK(gradient_ranks(s) == 1'000'000'000'000);
}

TEST_CASE("settings of a strategy and a training give both back") {
  Strategy strategy;
  strategy.pipeline_stages = 3;
  strategy.tensor_parallel = 2;
  strategy.data_parallel = 5;
  strategy.schedule = Schedule::one_f_one_b;
  strategy.micro_batches = 7;
  strategy.zero_stage = 1;
  strategy.shard_group = 5;
  strategy.recompute.mode = RecomputeMode::full;
  strategy.layers_per_stage = {3, 4, 3};
  Training training;
  training.sequence_length = 2048;
  training.global_batch = 35;
  training.optimizer = Optimizer::lion;
  training.gradient_format = NumberFormat::fp32;
  const LaunchSettings settings = settings_of(strategy, training);
  CHECK(strategy_of(settings) == strategy);
  const Training back = training_of(settings);
  CHECK(back.sequence_length == 2048);
  CHECK(back.global_batch == 35);
  CHECK(back.optimizer == Optimizer::lion);
  CHECK(back.formats().gradient == NumberFormat::fp32);
  CHECK(!back.optimizer_format);
}

}  // namespace
}  // namespace plumbline
