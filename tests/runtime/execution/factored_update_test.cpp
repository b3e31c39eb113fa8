// Adafactor where ranks share or divide parameters: one rank's weights, and the bytes that summing squares is predicted
// to take.
#include "core/cost/matrix_gathers.h"
#include "tests/matrix_layouts.h"

namespace plumbline::factored_update_test {
namespace {

/// With steps as large as the weights, so that a wrong sum shows in them.
TrainingJob large_steps(TrainingJob job) {
  job.learning_rate.peak = 0.5;
  return job;
}

void require_matrices(const Executed& run, const Executed& one) {
  for (const auto& [name, shape] : one.matrices) {
    INFO(name);
    CHECK(relative_difference(run.weights.at(name), one.weights.at(name), 0) <= 1e-4);
  }
}

/// Of all layouts, whose batch is the training's.
void require_first_step_of_one(Net net, const Training& training, const std::vector<Strategy>& layouts) {
  Strategy rank = single();
  rank.micro_batches = training.global_batch / rank.micro_batch;
  const LoweredPlan alone(network(net), rank, training);
  const Executed one = execute(large_steps(alone.job()), options(1));
  require_bytes(alone, one.record);
  for (const Strategy& strategy : sampled(layouts)) {
    INFO(to_text(strategy));
    const LoweredPlan plan(network(net), strategy, training);
    const Executed run = execute(large_steps(plan.job()), options(1));
    require_bytes(plan, run.record);
    for (const RankRecord& of_rank : run.record.ranks) {
      const MemoryBreakdown& predicted = plan.simulation.memory[static_cast<std::size_t>(of_rank.stage)].memory;
      for (const MemoryClass c : {MemoryClass::weights, MemoryClass::optimizer_state})
        CHECK(of_rank.memory.highest[c].value() == predicted[c].value());
    }
    require_matrices(run, one);
  }
}

TEST_CASE("Adafactor's first step on several ranks is that of one, with the bytes that were predicted") {
  std::vector<Strategy> layouts = matrix_layouts();
  layouts.push_back(laid_out([](Strategy& s) { s.data_parallel = 2; }));
  for (const Net net : {Net::gpt, Net::llama}) require_first_step_of_one(net, recipe(Optimizer::adafactor), layouts);
}

TEST_CASE("Adafactor's first step on 3, 5 and 6 ranks is that of one") {
  Training training = recipe(Optimizer::adafactor);
  training.global_batch = odd_batch;
  for (const Net net : {Net::gpt, Net::llama}) require_first_step_of_one(net, training, odd_matrix_layouts());
}

TEST_CASE("Adafactor's losses are those of one rank, whatever ranks share") {
  const Training training = recipe(Optimizer::adafactor);
  const Executed one = execute(LoweredPlan(network(Net::llama), single(), training).job(), options(5));
  CHECK(one.record.steps.back().loss < one.record.steps.front().loss);
  for (const Strategy& strategy : sampled(matrix_layouts())) {
    INFO(to_text(strategy));
    const Executed run = execute(LoweredPlan(network(Net::llama), strategy, training).job(), options(5));
    for (std::size_t i = 0; i < 5; ++i)
      CHECK(run.record.steps[i].loss == Approx(one.record.steps[i].loss).epsilon(1e-4));
  }
}

TEST_CASE("Adafactor takes each expert's matrix by itself, wherever experts are and however they are divided") {
  Training training = recipe_of(Net::moe);
  training.optimizer = Optimizer::adafactor;
  const LoweredPlan alone(network(Net::moe), single(), training);
  const Executed one = execute(large_steps(routed(alone, ExpertRouting::balanced)), options(1));
  for (const Strategy& strategy : expert_layouts()) {
    INFO(to_text(strategy));
    const LoweredPlan plan(network(Net::moe), strategy, training);
    const Executed run = execute(large_steps(routed(plan, ExpertRouting::balanced)), options(1));
    require_bytes(plan, run.record);
    require_matrices(run, one);
  }
}

// Two layers whose 20 sums by row and column are of three matrices, of which tensor-parallel ranks divide one with 6
// sums in common. The first part has 6 + 1 filled up to 8, and 14 + 2 more: 24; the second 1 filled up to 2, and 2
// more: 4. Four ranks that share states send 3/4 of each twice, two that divide a matrix a half of 8 and 2 twice.
TEST_CASE("sums of squares, worked by hand") {
  RankParameters p;
  UnitParameters unit;
  unit.count = 2;
  unit.dense_sums = {3, 20, 1, 6};
  p.units = {unit};
  Strategy s;
  s.data_parallel = 4;
  s.zero_stage = 1;
  s.shard_group = 4;
  s.tensor_parallel = 2;
  const MatrixGathers sums = matrix_gathers(p, s, Optimizer::adafactor);
  CHECK(sums.shards == Bytes(std::int64_t{2} * 2 * 4 * (24 + 4) * 3 / 4));
  CHECK(sums.slices == Bytes(std::int64_t{2} * 2 * 4 * (8 + 2) / 2));
  CHECK(sums.buffer == Bytes(std::int64_t{4} * (24 + 4 + 3)));
}

}  // namespace
}  // namespace plumbline::factored_update_test
