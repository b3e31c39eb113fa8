// Backwards that gather over a smaller group: one rank's numbers, those of one shard group bit for bit, and the bytes
// that were predicted.
#include "core/plan/legality.h"
#include "tests/execution_checks.h"

namespace plumbline::secondary_shards_threads_test {
namespace {

struct Case {
  std::string name;
  Net net = Net::llama;
  Strategy strategy;
};

Strategy sharded(std::int32_t ranks, std::int32_t secondary) {
  Strategy s = single();
  s.data_parallel = s.shard_group = ranks;
  s.secondary_shard_group = secondary;
  s.zero_stage = 3;
  s.micro_batch = 1;
  s.micro_batches = 2;
  return s;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add_sizes = [&](std::int32_t ranks, std::int32_t secondary) {
    const std::string sizes = std::to_string(secondary) + " of " + std::to_string(ranks);
    all.push_back({sizes, Net::llama, sharded(ranks, secondary)});
    all.push_back({sizes + ", tied embedding", Net::gpt, sharded(ranks, secondary)});
  };
  add_sizes(4, 2);
  add_sizes(6, 2);
  add_sizes(6, 3);
  add_sizes(10, 5);
  const auto add = [&](const std::string& name, Net net, void (*change)(Strategy&)) {
    all.push_back({name, net, sharded(4, 2)});
    change(all.back().strategy);
  };
  for (const Net net : {Net::gpt, Net::llama}) {
    add("pipeline", net, [](Strategy& s) {
      s.pipeline_stages = 2;
      s.schedule = Schedule::one_f_one_b;
      s.micro_batches = 3;
    });
    add("interleaved", net, [](Strategy& s) {
      s.pipeline_stages = s.virtual_stages = 2;
      s.schedule = Schedule::interleaved;
    });
    add("split backward", net, [](Strategy& s) { s.pipeline_stages = 2, s.schedule = Schedule::zb_h1; });
    add("tensor parallelism", net, [](Strategy& s) {
      s.tensor_parallel = 2;
      s.sequence_parallel = SequenceParallel::on;
    });
    add("full recompute", net, [](Strategy& s) { s.recompute.mode = RecomputeMode::full; });
    add("layers replayed in pairs", net, [](Strategy& s) { s.recompute = {RecomputeMode::uniform, 2, {}}; });
    add("offloaded layers", net, [](Strategy& s) { s.recompute = {RecomputeMode::offloaded, 2, {}}; });
    add("no prefetch", net, [](Strategy& s) { s.prefetch = ParameterPrefetch::off; });
    add("units of two layers", net, [](Strategy& s) { s.layers_per_unit = 2; });
    add("two copies", net, [](Strategy& s) { s.data_parallel = 8, s.shard_group = 4; });
    add("accumulation", net, [](Strategy& s) { s.micro_batches = 5; });
  }
  add("two chunks in a V", Net::llama, [](Strategy& s) {
    s.pipeline_stages = s.virtual_stages = 2;
    s.schedule = Schedule::zbv;
    s.micro_batches = 4;
  });
  // Of eight ranks with two parts of the experts, four hold the same: they are gathered over two; with four parts two
  // do, and those over both.
  add("experts in two parts", Net::moe,
      [](Strategy& s) { s.data_parallel = s.shard_group = 8, s.expert_parallel = 2; });
  add("experts in four parts", Net::moe,
      [](Strategy& s) { s.data_parallel = s.shard_group = 8, s.expert_parallel = 4; });
  return all;
}

Training training_of(const Case& one) {
  Training training = recipe_of(one.net);
  training.optimizer = Optimizer::adamw;
  training.global_batch = one.strategy.data_parallel * one.strategy.micro_batch * one.strategy.micro_batches;
  return training;
}

void require_same_bits(const WholeTensors& a, const WholeTensors& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [name, values] : b) {
    INFO(name);
    CHECK((a.at(name) == values));
  }
}

/// Experts get rows in turn, so that what they send is what was predicted.
Executed executed(const LoweredPlan& plan) { return execute(routed(plan, ExpertRouting::balanced), options(3)); }

TEST_CASE("the shards of a smaller group give the numbers of the shard group's, and the bytes that were predicted") {
  for (const Case& one : sampled(cases())) {
    INFO(one.name << (one.net == Net::gpt ? ", gpt: " : ": ") << to_text(one.strategy));
    const Training training = training_of(one);
    Strategy whole = one.strategy;
    whole.secondary_shard_group = 1;
    REQUIRE_FALSE(
        first_violation(one.strategy, training, divisibility(network(one.net)), {one.strategy.devices(), 8, true}));
    const LoweredPlan plan(network(one.net), one.strategy, training);
    const Executed run = executed(plan);
    const Executed expected = executed(LoweredPlan(network(one.net), whole, training));
    for (std::size_t i = 0; i < run.record.steps.size(); ++i)
      CHECK(run.record.steps[i].loss == expected.record.steps[i].loss);
    require_same_bits(run.gradients, expected.gradients);
    require_same_bits(run.last_gradients, expected.last_gradients);
    require_same_bits(run.weights, expected.weights);
    require_bytes(plan, run.record);
  }
}

TEST_CASE("ranks with secondary shards give one rank's losses and weights") {
  for (const Net net : {Net::gpt, Net::llama}) {
    const Case one{"2 of 4", net, sharded(4, 2)};
    Training training = training_of(one);
    training.optimizer = Optimizer::sgd;  // Adam divides the noise of keys' biases, which have no gradient, by itself
    Strategy alone = single();
    alone.micro_batch = 2;
    alone.micro_batches = training.global_batch / alone.micro_batch;
    require_same_training(execute(LoweredPlan(network(net), one.strategy, training).job(), options(3)),
                          execute(LoweredPlan(network(net), alone, training).job(), options(3)));
  }
}

// An embedding, four layers and a head, gathered in two micro-batches.
TEST_CASE("forwards send in the shard group, backwards in the secondary one") {
  const Case one{"2 of 6", Net::llama, sharded(6, 2)};
  const LoweredPlan plan(network(one.net), one.strategy, training_of(one));
  const Executed run = execute(plan.job(), options(1));
  for (const RankRecord& rank : run.record.ranks) {
    std::map<std::string, std::int64_t> gathers;
    for (const SentRecord& sent : rank.sent)
      if (sent.collective == "all-gather" && sent.calls > 0) gathers[sent.group] = sent.calls;
    CHECK(gathers["shard"] == 12);
    CHECK(gathers["secondary_shard"] == 12);
    // 5/6 of all parameters against 1/2.
    Bytes in_shard(0);
    for (const SentRecord& sent : rank.sent)
      if (sent.group == "shard" && sent.collective == "all-gather") in_shard += sent.bytes;
    CHECK(3 * in_shard.value() == 5 * sent_in(rank, "secondary_shard").value());
  }
}

}  // namespace
}  // namespace plumbline::secondary_shards_threads_test
