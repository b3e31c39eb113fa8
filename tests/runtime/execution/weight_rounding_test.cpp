// Weights in 16 bits without master copies: updates smaller than half the distance of neighbours are lost when they are
// rounded to the nearest, and are not when a draw rounds them.
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

constexpr double small_rate = 1e-5;

Executed trained(PrecisionRecipe precision, WeightRounding rounding, const Strategy& strategy, std::uint64_t seed = 7) {
  Training training = recipe(Optimizer::sgd);
  training.precision = precision;
  const LoweredPlan plan(network(Net::llama), strategy, training);
  TrainingJob job = plan.job();
  job.optimizer.rounding = rounding;
  job.optimizer.weight_decay = 0;
  job.learning_rate.shape = LearningRateShape::constant;
  job.learning_rate.peak = small_rate;
  job.learning_rate.warmup_steps = 0;
  RunOptions o = options(2);
  o.seed = seed;
  return execute(job, o);
}

/// The norms of all weights begin at 1.
std::vector<float> norms(const Executed& run) {
  std::vector<float> all;
  for (const auto& [name, values] : run.weights)
    if (name.find("norm") != std::string::npos) all.insert(all.end(), values.begin(), values.end());
  return all;
}

std::int64_t moved(const std::vector<float>& values) {
  return std::count_if(values.begin(), values.end(), [](float value) { return value != 1.0F; });
}

TEST_CASE("a draw moves weights that rounding to the nearest leaves where they are") {
  for (const PrecisionRecipe precision : {PrecisionRecipe::bf16_pure, PrecisionRecipe::fp16_pure}) {
    INFO(to_text(precision));
    const std::vector<float> nearest = norms(trained(precision, WeightRounding::nearest, single()));
    const std::vector<float> drawn = norms(trained(precision, WeightRounding::stochastic, single()));
    REQUIRE(nearest.size() > 200);
    CHECK(moved(nearest) == 0);
    CHECK(trained(precision, WeightRounding::stochastic, single()).weights !=
          trained(precision, WeightRounding::nearest, single()).weights);
    CHECK(drawn.size() == nearest.size());
  }
}

TEST_CASE("the draws of two runs are the same, and of another seed others") {
  const auto weights = [](std::uint64_t seed) {
    return trained(PrecisionRecipe::bf16_pure, WeightRounding::stochastic, single(), seed).weights;
  };
  CHECK(weights(7) == weights(7));
  CHECK(weights(7) != weights(8));
}

// Sums over ranks have one order (decision 0012), so that gradients are the same bits, and so are the draws.
TEST_CASE("ranks that share an optimizer's states draw what one that has all of them draws") {
  Strategy whole = single();
  whole.data_parallel = 2;
  whole.micro_batches = 2;
  const Executed expected = trained(PrecisionRecipe::bf16_pure, WeightRounding::stochastic, whole);
  for (const std::int32_t stage : {1, 2, 3}) {
    INFO("ZeRO " << stage);
    Strategy shared = whole;
    shared.zero_stage = stage;
    shared.shard_group = 2;
    CHECK(trained(PrecisionRecipe::bf16_pure, WeightRounding::stochastic, shared).weights == expected.weights);
  }
}

TEST_CASE("weights with master copies in fp32 are not drawn") {
  CHECK(trained(PrecisionRecipe::bf16, WeightRounding::stochastic, single()).weights ==
        trained(PrecisionRecipe::bf16, WeightRounding::nearest, single()).weights);
}

}  // namespace
}  // namespace plumbline
