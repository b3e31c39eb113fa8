// Settings that several files of one run say together.

#include "planner/frameworks/launch/merge_settings.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("a second file adds what the first leaves open and overrides nothing") {
  LaunchSettings s;
  s.zero_stage = 3;
  s.recipe.clip = 1.0;
  LaunchSettings more;
  more.model = "gpt2";
  more.zero_stage = 1;
  more.micro_batch = 4;
  more.layers_per_stage = {2, 3};
  more.recipe.clip = 0.5;
  more.recipe.seed = 7;
  fill_missing(s, more);
  CHECK(s.model == "gpt2");
  CHECK(s.zero_stage == 3);
  CHECK(s.micro_batch == 4);
  CHECK(s.layers_per_stage == std::vector<std::int32_t>{2, 3});
  CHECK(s.recipe.clip == 1.0);
  CHECK(s.recipe.seed == 7);
}

TEST_CASE("settings of a strategy and a training pass whole into empty ones") {
  Strategy strategy;
  strategy.pipeline_stages = 2;
  strategy.tensor_parallel = 4;
  strategy.context_parallel = 3;
  strategy.expert_parallel = 2;
  strategy.data_parallel = 6;
  strategy.schedule = Schedule::one_f_one_b;
  strategy.micro_batch = 5;
  strategy.micro_batches = 7;
  strategy.zero_stage = 1;
  strategy.shard_group = 18;
  strategy.flash_attention = FlashAttention::off;
  strategy.recompute.mode = RecomputeMode::full;
  Training training;
  training.optimizer = Optimizer::lion;
  training.precision = PrecisionRecipe::fp16;
  LaunchSettings s;
  fill_missing(s, settings_of(strategy, training));
  CHECK(strategy_of(s) == strategy);
  CHECK(training_of(s).optimizer == Optimizer::lion);
  CHECK(training_of(s).precision == PrecisionRecipe::fp16);
}

}  // namespace
}  // namespace plumbline
