// Recompute whose replay differs from a second forward: by operator, by module, and before a split backward.
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

/// Five layers, no degree but the heads' divides them; an inner width that two ranks make narrower than the layer.
Graph narrow() {
  return llama({.layers = 5, .hidden = 84, .heads = 12, .kv_heads = 6, .head_dim = 6, .width = 100, .vocabulary = 60});
}

Training recipe_of_four() {
  Training training = recipe();
  training.sequence_length = 24;
  training.global_batch = 4;
  return training;
}

Executed run(const LoweredPlan& plan) {
  RunOptions o = options(2);
  o.data = random_tokens(60, 4000);
  return execute(plan.job(), o);
}

/// Strategies of micro-batches of one sequence.
void require_as_one_rank(const std::vector<Strategy>& strategies) {
  Strategy one;
  one.micro_batches = 4;
  const Executed expected = run(LoweredPlan(narrow(), one, recipe_of_four()));
  for (Strategy s : sampled(strategies)) {
    s.micro_batches = 4;
    INFO(to_text(s));
    const LoweredPlan plan(narrow(), s, recipe_of_four());
    const Executed made = run(plan);
    require_equal(made.gradients, expected.gradients, 2e-5);
    require_equal(made.weights, expected.weights, 1e-5);
    require_bytes(plan, made.record);
  }
}

std::vector<Strategy> tensor_parallel() {
  std::vector<Strategy> strategies(1);
  for (const SequenceParallel sliced : {SequenceParallel::off, SequenceParallel::on}) {
    Strategy s;
    s.tensor_parallel = 2;
    s.sequence_parallel = sliced;
    strategies.push_back(s);
  }
  return strategies;
}

TEST_CASE("by operator keeps what its list says, and nothing else") {
  std::vector<Strategy> strategies;
  for (const FlashAttention flash : {FlashAttention::on, FlashAttention::off})
    for (Strategy s : tensor_parallel()) {
      s.recompute.mode = RecomputeMode::by_operator;
      s.flash_attention = flash;
      strategies.push_back(s);
      s.pipeline_stages = 2;
      s.schedule = Schedule::zb_h1;
      strategies.push_back(s);
    }
  require_as_one_rank(strategies);
}

TEST_CASE("modules that replay attention pass its keys and values around the ring again") {
  Strategy s;
  s.context_parallel = 2;
  s.recompute.mode = RecomputeMode::modules;
  s.recompute.modules.add(RecomputeModule::core_attn);
  s.recompute.modules.add(RecomputeModule::layernorm);
  require_as_one_rank({s});
}

TEST_CASE("a replay and its split backward share one working set") {
  std::vector<Strategy> strategies;
  for (const Schedule schedule :
       {Schedule::zb_h1, Schedule::zb_h2, Schedule::zbv, Schedule::v_half, Schedule::dualpipev})
    for (const Recompute recompute : {Recompute{RecomputeMode::full}, Recompute{RecomputeMode::every_nth, 2}})
      for (const std::int32_t ranks : {1, 2}) {
        Strategy s;
        s.pipeline_stages = 2;
        s.virtual_stages = placement(schedule) == StagePlacement::v_shaped ? 2 : 1;
        s.schedule = schedule;
        s.recompute = recompute;
        s.tensor_parallel = ranks;
        strategies.push_back(s);
      }
  require_as_one_rank(strategies);
}

std::vector<Strategy> with_groups(Strategy s) {
  std::vector<Strategy> strategies;
  for (const Recompute recompute :
       {Recompute{RecomputeMode::uniform, 2}, Recompute{RecomputeMode::uniform, 3}, Recompute{RecomputeMode::block, 1},
        Recompute{RecomputeMode::block, 2}, Recompute{RecomputeMode::square_root}}) {
    s.recompute = recompute;
    strategies.push_back(s);
  }
  return strategies;
}

// Five layers: groups of 2, 2, 1, and of 3, 2. Only the first layer of a group keeps its input.
TEST_CASE("layers that are replayed in groups give one rank's numbers and the predicted bytes") {
  std::vector<Strategy> strategies = with_groups({});
  for (const Strategy& divided : tensor_parallel())
    for (const Strategy& s : with_groups(divided)) strategies.push_back(s);
  Strategy context;
  context.context_parallel = 2;
  for (const Strategy& s : with_groups(context)) strategies.push_back(s);
  require_as_one_rank(strategies);
}

TEST_CASE("groups of layers are those of a pipeline chunk") {
  std::vector<Strategy> strategies;
  Strategy staged;
  staged.pipeline_stages = 2;
  staged.schedule = Schedule::one_f_one_b;
  for (const Strategy& s : with_groups(staged)) strategies.push_back(s);
  staged.virtual_stages = 2;
  staged.schedule = Schedule::interleaved;
  for (const Strategy& s : with_groups(staged))
    if (s.recompute.n < 3) strategies.push_back(s);
  require_as_one_rank(strategies);
}

TEST_CASE("groups of layers go with split backwards") {
  std::vector<Strategy> strategies;
  for (const Schedule schedule : {Schedule::zb_h1, Schedule::zbv, Schedule::v_half, Schedule::dualpipev}) {
    Strategy s;
    s.pipeline_stages = 2;
    s.virtual_stages = placement(schedule) == StagePlacement::v_shaped ? 2 : 1;
    s.schedule = schedule;
    s.recompute = {RecomputeMode::uniform, 2};
    strategies.push_back(s);
  }
  require_as_one_rank(strategies);
}

TEST_CASE("layers of a group are gathered for their replay and again for their backward") {
  std::vector<Strategy> strategies;
  for (const std::int32_t zero : {1, 2, 3})
    for (const ParameterPrefetch prefetch : {ParameterPrefetch::on, ParameterPrefetch::off}) {
      if (zero < 3 && prefetch == ParameterPrefetch::off) continue;
      Strategy s;
      s.data_parallel = s.shard_group = 2;
      s.zero_stage = zero;
      s.prefetch = prefetch;
      for (const Strategy& grouped : with_groups(s)) strategies.push_back(grouped);
    }
  Strategy one;
  one.micro_batches = 4;
  const Executed expected = run(LoweredPlan(narrow(), one, recipe_of_four()));
  for (Strategy s : sampled(strategies)) {
    s.micro_batches = 2;
    INFO(to_text(s));
    const LoweredPlan plan(narrow(), s, recipe_of_four());
    const Executed made = run(plan);
    require_equal(made.gradients, expected.gradients, 2e-5);
    require_bytes(plan, made.record);
  }
}

}  // namespace
}  // namespace plumbline
