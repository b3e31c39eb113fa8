// Units of several layers: the numbers of units of one layer, bit for bit, in fewer collectives of the predicted bytes.
#include "core/plan/legality.h"
#include "tests/execution_checks.h"

namespace plumbline::layer_units_test {
namespace {

struct Case {
  std::string name;
  Net net = Net::llama;
  Strategy strategy;
};

Strategy sharded(std::int32_t ranks) {
  Strategy s = single();
  s.data_parallel = s.shard_group = ranks;
  s.zero_stage = 3;
  s.micro_batch = 1;
  s.micro_batches = 2;
  return s;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::int32_t ranks : {2, 3, 5, 6}) {
    all.push_back({std::to_string(ranks) + " ranks", Net::llama, sharded(ranks)});
    all.push_back({std::to_string(ranks) + " ranks, tied embedding", Net::gpt, sharded(ranks)});
  }
  const auto add = [&](const std::string& name, Net net, void (*change)(Strategy&)) {
    all.push_back({name, net, sharded(2)});
    change(all.back().strategy);
  };
  for (const Net net : {Net::gpt, Net::llama}) {
    add("pipeline", net, [](Strategy& s) { s.pipeline_stages = 2, s.schedule = Schedule::one_f_one_b; });
    add("interleaved", net, [](Strategy& s) {
      s.pipeline_stages = s.virtual_stages = 2;
      s.schedule = Schedule::interleaved;
    });
    add("uneven stages", net, [](Strategy& s) {
      s.pipeline_stages = 2;
      s.schedule = Schedule::one_f_one_b;
      s.layers_per_stage = {1, 3};
    });
    add("split backward", net, [](Strategy& s) { s.pipeline_stages = 2, s.schedule = Schedule::zb_h1; });
    add("tensor parallelism", net, [](Strategy& s) {
      s.tensor_parallel = 2;
      s.sequence_parallel = SequenceParallel::on;
    });
    add("full recompute", net, [](Strategy& s) { s.recompute.mode = RecomputeMode::full; });
    add("every second layer recomputed", net, [](Strategy& s) { s.recompute = {RecomputeMode::every_nth, 2, {}}; });
    add("offloaded layers", net, [](Strategy& s) { s.recompute = {RecomputeMode::offloaded, 2, {}}; });
    add("no prefetch", net, [](Strategy& s) { s.prefetch = ParameterPrefetch::off; });
    add("two copies", net, [](Strategy& s) { s.data_parallel = 4, s.shard_group = 2; });
    add("accumulation", net, [](Strategy& s) { s.micro_batches = 5; });
  }
  add("two chunks in a V", Net::llama, [](Strategy& s) {
    s.pipeline_stages = s.virtual_stages = 2;
    s.schedule = Schedule::zbv;
    s.micro_batches = 4;
  });
  add("experts behind a dense layer", Net::moe, [](Strategy& s) { s.expert_parallel = 2; });
  return all;
}

Training training_of(const Case& one, Optimizer optimizer) {
  Training training = recipe_of(one.net);
  training.optimizer = optimizer;
  training.global_batch = one.strategy.data_parallel * one.strategy.micro_batch * one.strategy.micro_batches;
  return training;
}

std::int32_t most_layers(const Case& one) {
  const Graph graph = network(one.net);
  Strategy s = one.strategy;
  for (s.layers_per_unit = 4; s.layers_per_unit > 1; --s.layers_per_unit)
    if (!first_violation(s, training_of(one, Optimizer::sgd), divisibility(graph), {s.devices(), 8, true})) break;
  return s.layers_per_unit;
}

void require_same_bits(const WholeTensors& a, const WholeTensors& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [name, values] : b) {
    INFO(name);
    CHECK(a.at(name) == values);
  }
}

/// Experts get rows in turn, so that what they send is what was predicted.
Executed executed(const LoweredPlan& plan) { return execute(routed(plan, ExpertRouting::balanced), options(3)); }

/// With two layers in a unit up to all of a chunk.
void require_units_like_blocks(const Case& one, const Training& training) {
  Strategy s = one.strategy;
  const Executed blocks = executed(LoweredPlan(network(one.net), s, training));
  for (s.layers_per_unit = 2; s.layers_per_unit <= most_layers(one); ++s.layers_per_unit) {
    INFO(one.name << (one.net == Net::gpt ? ", gpt: " : ": ") << to_text(s));
    const LoweredPlan plan(network(one.net), s, training);
    const Executed run = executed(plan);
    for (std::size_t i = 0; i < run.record.steps.size(); ++i)
      CHECK(run.record.steps[i].loss == blocks.record.steps[i].loss);
    require_same_bits(run.gradients, blocks.gradients);
    require_same_bits(run.last_gradients, blocks.last_gradients);
    require_same_bits(run.weights, blocks.weights);
    require_bytes(plan, run.record);
  }
}

TEST_CASE("units of several layers give the numbers of units of one") {
  for (const Case& one : sampled(cases())) require_units_like_blocks(one, training_of(one, Optimizer::adamw));
}

// Ranks gather the whole section of a unit, of which the matrices are first.
TEST_CASE("units of several layers give the numbers of units of one where an optimizer needs whole matrices") {
  for (const std::int32_t ranks : {2, 3})
    for (const Net net : {Net::gpt, Net::llama}) {
      Case one{std::to_string(ranks) + " ranks, Muon", net, sharded(ranks)};
      require_units_like_blocks(one, training_of(one, Optimizer::muon));
      one.strategy.tensor_parallel = 2;
      require_units_like_blocks(one, training_of(one, Optimizer::muon));
    }
}

std::int64_t calls(const Executed& run, const std::string& collective) {
  std::int64_t sum = 0;
  for (const SentRecord& sent : run.record.ranks.front().sent)
    if (sent.group == "shard" && sent.collective == collective) sum += sent.calls;
  return sum;
}

// An embedding, 4 / N units of layers and a head: gathered for two passes of two micro-batches, reduced for each
// backward.
TEST_CASE("units of several layers are one gather and one reduction each") {
  for (const std::int32_t layers : {1, 2, 4}) {
    Strategy s = sharded(2);
    s.layers_per_unit = layers;
    Training training = recipe();
    training.global_batch = 4;
    const LoweredPlan plan(network(Net::llama), s, training);
    const Executed run = execute(plan.job(), options(1));
    const std::int64_t units = 2 + 4 / layers;
    CHECK(calls(run, "all-gather") == 2 * 2 * units);
    CHECK(calls(run, "reduce-scatter") == 2 * units);
  }
}

}  // namespace
}  // namespace plumbline::layer_units_test
