// Gradients clipped by value: each element by itself, behind the norm, on every layout as on one rank.
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

constexpr double limit = 2e-3;

Executed clipped(const Strategy& strategy, Optimizer optimizer, double norm, double value) {
  const LoweredPlan plan(network(Net::llama), strategy, recipe(optimizer));
  TrainingJob job = plan.job();
  job.optimizer.clip_norm = norm;
  job.optimizer.clip_value = value;
  job.optimizer.weight_decay = 0;
  return execute(job, options(2));
}

Strategy four_ranks() {
  Strategy s = single();
  s.tensor_parallel = s.data_parallel = s.shard_group = 2;
  s.zero_stage = 2;
  s.micro_batches = 2;
  return s;
}

// With a rate of 0 and 0.01 (no warm-up) the weights before and behind a step are those of two runs.
TEST_CASE("SGD moves each weight by its clamped gradient times the rate") {
  const LoweredPlan plan(network(Net::llama), single(), recipe(Optimizer::sgd));
  const auto weights = [&](double rate) {
    TrainingJob job = plan.job();
    job.learning_rate.peak = rate;
    job.optimizer.clip_norm = 0;
    job.optimizer.clip_value = limit;
    job.optimizer.weight_decay = 0;
    return execute(job, options(1));
  };
  const Executed before = weights(0);
  const Executed behind = weights(0.01);
  std::int64_t clamped = 0;
  for (const auto& [name, gradients] : behind.gradients)
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const double taken = std::clamp(double(gradients[i]), -limit, limit);
      clamped += std::abs(gradients[i]) > limit ? 1 : 0;
      const double start = before.weights.at(name)[i];
      const double moved = double(behind.weights.at(name)[i]) - start;
      REQUIRE(std::abs(moved + 0.01 * taken) <= 0x1p-23 * (std::abs(start) + 0.01 * limit));
    }
  CHECK(clamped > 100);
}

TEST_CASE("clipping by value is that of one rank on four, for every optimizer") {
  for (const OptimizerFacts& row : sampled(std::vector(optimizer_table.begin(), optimizer_table.end()), 3)) {
    INFO(row.name);
    const Executed alone = clipped(single(), row.optimizer, 1, limit);
    const Executed four = clipped(four_ranks(), row.optimizer, 1, limit);
    CHECK(alone.weights != clipped(single(), row.optimizer, 1, 0).weights);
    CHECK(four.record.steps[1].loss == Approx(alone.record.steps[1].loss).epsilon(1e-4));
  }
}

}  // namespace
}  // namespace plumbline
