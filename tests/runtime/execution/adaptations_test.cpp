// Adapters and frozen layers under every tensor-parallel degree, with and without sequence parallelism, pipelines and
// sharded states: one rank's losses, gradients and weights, and the predicted bytes.
#include "tests/execution_checks.h"

namespace plumbline::adaptations_test {
namespace {

Graph twelve_heads() {
  return llama({.layers = 4, .hidden = 36, .heads = 12, .kv_heads = 12, .head_dim = 4, .width = 60, .vocabulary = 60});
}

Training recipe_with(const Adaptation& adaptation) {
  Training training = recipe(Optimizer::sgd);
  training.sequence_length = 24;
  training.global_batch = 4;
  training.adaptation = adaptation;
  return training;
}

Strategy spread(std::int32_t data, std::int32_t tensor, std::int32_t pipeline, SequenceParallel sliced) {
  Strategy s;
  s.data_parallel = data;
  s.tensor_parallel = tensor;
  s.pipeline_stages = pipeline;
  s.schedule = pipeline > 1 ? Schedule::one_f_one_b : Schedule::none;
  s.sequence_parallel = sliced;
  s.micro_batches = 4 / data;
  s.zero_stage = data > 1 ? 2 : 0;
  s.shard_group = data;
  return s;
}

RunOptions two_steps() {
  RunOptions o = options(2);
  o.data = random_tokens(60, 4000);
  return o;
}

void require_as_one_rank(const Adaptation& adaptation, const std::vector<Strategy>& strategies) {
  const Training training = recipe_with(adaptation);
  const Graph graph = adapted(twelve_heads(), adaptation);
  const LoweredPlan alone(graph, spread(1, 1, 1, SequenceParallel::off), training);
  const Executed expected = execute(alone.job(), two_steps());
  require_bytes(alone, expected.record);
  for (const Strategy& s : sampled(strategies)) {
    INFO(to_text(s));
    const LoweredPlan many(graph, s, training);
    const Executed run = execute(many.job(), two_steps());
    for (std::size_t i = 0; i < run.record.steps.size(); ++i)
      CHECK(run.record.steps[i].loss == Approx(expected.record.steps[i].loss).epsilon(1e-5));
    require_equal(run.gradients, expected.gradients, 2e-5);
    require_equal(run.weights, expected.weights, 1e-5);
    require_bytes(many, run.record);
  }
}

std::vector<Strategy> tensor_parallel_strategies() {
  std::vector<Strategy> strategies;
  for (const SequenceParallel sliced : {SequenceParallel::off, SequenceParallel::on}) {
    for (const std::int32_t tensor : {2, 3, 4}) strategies.push_back(spread(1, tensor, 1, sliced));
    strategies.push_back(spread(2, 2, 2, sliced));
    strategies.push_back(spread(1, 3, 2, sliced));
  }
  return strategies;
}

TEST_CASE("adapters of column- and row-parallel linears train as on one rank") {
  for (const LoraTargets targets : {LoraTargets::every_linear, LoraTargets::queries_keys_values})
    require_as_one_rank({.frozen_layers = {}, .lora_rank = 4, .lora_targets = targets}, tensor_parallel_strategies());
}

TEST_CASE("frozen layers gather no rows for weight gradients that nobody makes") {
  require_as_one_rank({.frozen_layers = {{1, 3}}}, tensor_parallel_strategies());
  require_as_one_rank({.freeze_embeddings = true, .frozen_layers = {{0, 1}}}, tensor_parallel_strategies());
}

}  // namespace
}  // namespace plumbline::adaptations_test
