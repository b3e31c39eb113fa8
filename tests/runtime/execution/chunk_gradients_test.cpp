// Gradients of pipeline chunks that wait whole for their chunk's last backward, as PyTorch's pipelines keep them.
#include "tests/execution_checks.h"

namespace plumbline::chunk_gradients_test {
namespace {

using Catch::Matchers::ContainsSubstring;

Calibration keeping_habits() { return runtime_calibration(ShardedGradients::last_backward); }

Graph network() {
  return llama({.layers = 9, .hidden = 84, .heads = 4, .kv_heads = 4, .head_dim = 6, .width = 100, .vocabulary = 68});
}

Strategy pipelined(Schedule schedule, std::int32_t stages, std::int32_t chunks, std::int32_t data,
                   std::int32_t micro_batches, std::int32_t zero) {
  Strategy s;
  s.schedule = schedule;
  s.pipeline_stages = stages;
  s.virtual_stages = chunks;
  s.data_parallel = data;
  s.micro_batches = micro_batches;
  s.zero_stage = zero;
  s.shard_group = s.gradient_ranks();
  return s;
}

Training recipe_for(const Strategy& s) {
  Training training = recipe();
  training.sequence_length = 24;
  training.global_batch = s.data_parallel * s.micro_batch * s.micro_batches;
  return training;
}

RunOptions two_steps() {
  RunOptions o = options(2);
  o.data = random_tokens(66, 4000);
  return o;
}

std::vector<Strategy> strategies() {
  std::vector<Strategy> all{
      pipelined(Schedule::one_f_one_b, 2, 1, 3, 5, 2), pipelined(Schedule::one_f_one_b, 3, 1, 2, 4, 3),
      pipelined(Schedule::gpipe, 2, 1, 2, 3, 2),       pipelined(Schedule::interleaved, 2, 2, 2, 2, 2),
      pipelined(Schedule::interleaved, 2, 3, 3, 6, 2), pipelined(Schedule::interleaved, 3, 3, 2, 6, 3),
      pipelined(Schedule::zb_h1, 2, 1, 2, 4, 2),       pipelined(Schedule::zbv, 2, 2, 2, 4, 2),
      pipelined(Schedule::v_half, 2, 2, 3, 4, 2),      pipelined(Schedule::dualpipev, 2, 2, 2, 6, 2)};
  Strategy hybrid = pipelined(Schedule::interleaved, 2, 2, 4, 4, 2);
  hybrid.shard_group = 2;
  all.push_back(hybrid);
  hybrid.zero_stage = 3;
  hybrid.layers_per_unit = 2;
  all.push_back(hybrid);
  Strategy tensor = pipelined(Schedule::interleaved, 2, 2, 2, 2, 2);
  tensor.tensor_parallel = 2;
  tensor.sequence_parallel = SequenceParallel::on;
  all.push_back(tensor);
  Strategy replayed = pipelined(Schedule::interleaved, 2, 2, 2, 4, 2);
  replayed.recompute = {RecomputeMode::full, 1};
  all.push_back(replayed);
  return all;
}

TEST_CASE("gradients kept whole by chunk train as one rank does, byte for byte") {
  for (const Strategy& s : strategies()) {
    INFO(to_text(s));
    const Training training = recipe_for(s);
    Strategy alone;
    alone.micro_batches = training.global_batch;
    const Executed expected = execute(LoweredPlan(network(), alone, training).job(), two_steps());
    const LoweredPlan plan(network(), s, training, keeping_habits());
    RunOptions strict = two_steps();
    strict.tests.strict_buffers = true;
    const Executed run = execute(plan.job(), strict);
    for (std::size_t i = 0; i < run.record.steps.size(); ++i)
      CHECK(run.record.steps[i].gradient_norm == Approx(expected.record.steps[i].gradient_norm).epsilon(1e-5));
    require_equal(run.gradients, expected.gradients, 5e-5);
    require_equal(run.weights, expected.weights, 1e-5);
    require_bytes(plan, run.record);
  }
}

TEST_CASE("frozen layers and adapters wait with what is trained beside them") {
  const Strategy s = pipelined(Schedule::interleaved, 2, 2, 2, 4, 2);
  const Training training = recipe_for(s);
  for (const Adaptation& adaptation : {Adaptation{true, {}, 0}, Adaptation{false, {}, 4}}) {
    const Graph changed = adapted(network(), adaptation);
    Strategy alone;
    alone.micro_batches = training.global_batch;
    const Executed expected = execute(LoweredPlan(changed, alone, training).job(), two_steps());
    const LoweredPlan plan(changed, s, training, keeping_habits());
    const Executed run = execute(plan.job(), two_steps());
    require_equal(run.weights, expected.weights, 1e-5);
    require_bytes(plan, run.record);
  }
}

TEST_CASE("each chunk is reduced once a step, behind the message of its last backward") {
  const Strategy s = pipelined(Schedule::interleaved, 2, 3, 2, 6, 2);
  const LoweredPlan plan(network(), s, recipe_for(s), keeping_habits());
  for (const RankProgram& rank : plan.program.ranks) {
    std::vector<std::int32_t> reduced;
    for (std::size_t i = 0; i < rank.actions.size(); ++i) {
      const Action& a = rank.actions[i];
      if (a.kind() != ActionKind::reduce_gradients || a.pass() == Pass::step) continue;
      reduced.push_back(a.chunk);
      CHECK(a.micro_batch + 1 == s.micro_batches);
      CHECK(a.issue == Issue::in_order);
      for (std::size_t later = i; later < rank.actions.size(); ++later) {
        const Action& b = rank.actions[later];
        const bool is_of_chunk = b.chunk == a.chunk && (b.pass() == Pass::backward || b.pass() == Pass::weight);
        CHECK((!is_of_chunk || later == i));  // the chunk's message has left, and no backward of it follows
      }
    }
    CHECK(reduced == std::vector<std::int32_t>{2, 1, 0});
  }
}

TEST_CASE("a step is not taken where a chunk's gradients are left") {
  const Strategy s = pipelined(Schedule::interleaved, 2, 2, 2, 2, 2);
  const LoweredPlan plan(network(), s, recipe_for(s), keeping_habits());
  Program changed = plan.program;
  for (RankProgram& rank : changed.ranks)
    for (Action& a : rank.actions)
      if (auto* reduction = std::get_if<GradientReduction>(&a.what);
          reduction != nullptr && reduction->of != GradientsOf::step && a.chunk == 0 && reduction->units.count > 0)
        --reduction->units.count;
  const TrainingJob job{plan.graph, plan.strategy, plan.training, changed, {}, plan.job().learning_rate, {}, {}, ""};
  CHECK_THROWS_WITH(execute(job, two_steps()), ContainsSubstring("no action scatters the gradients of"));
}

}  // namespace
}  // namespace plumbline::chunk_gradients_test
