// Clusters of several kinds of devices: each stage is priced on its own.

#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"
#include "planner/search/search.h"
#include "planner/search/site_splits.h"
#include "tests/catch.h"
#include "tests/random_questions.h"
#include "tests/search_audit.h"

namespace plumbline::mixed_cluster_test {
namespace {

Cluster mixed(Cluster first, const Cluster& second) {
  first.name = "mixed";
  first.groups.push_back(second.groups.front());
  return first;
}
Cluster h100_and_a100() { return mixed(find_machine("dgx-h100"), find_machine("dgx-a100-80g")); }

Question on(const Cluster& cluster, const std::string& model, std::int64_t batch, std::int64_t sequence = 2048) {
  return {question_text(model, "mixed", device_count(cluster), sequence, batch), find_network(model), cluster};
}

Strategy pipeline(std::int32_t stages, std::int32_t tensor, std::int32_t data, std::int64_t micro_batches) {
  Strategy s;
  s.pipeline_stages = stages;
  s.tensor_parallel = tensor;
  s.data_parallel = data;
  s.micro_batches = micro_batches;
  s.schedule = stages > 1 ? Schedule::one_f_one_b : Schedule::none;
  return s;
}

Picoseconds step_of(const Question& question, const Strategy& s) {
  return evaluate(question, s).prediction.time.total();
}

/// The last of the nodes drawn as another kind that only draws more power, which no time depends on.
Cluster under_two_names(const Cluster& cluster) {
  Cluster two = cluster;
  NodeGroup other = two.groups.front();
  other.node.host_power.value = 2. * other.node.host_power.value;
  other.count = two.groups.front().count / 2;
  two.groups.front().count -= other.count;
  two.groups.push_back(other);
  return two;
}

void require_same_as_alone(const RandomQuestion& asked) {
  const Cluster two = under_two_names(asked.question.cluster());
  const Question both(asked.question.text(), asked.question.network(), two);
  REQUIRE(both.sites().count() == 3);
  INFO(asked.question.text().model << " on " << asked.question.text().machine << ": " << to_text(asked.strategy));
  const Plan alone = evaluate(asked.question, asked.strategy);
  const Plan plan = evaluate(both, asked.strategy);
  REQUIRE(plan.prediction.time.by_cause == alone.prediction.time.by_cause);
  REQUIRE(plan.prediction.peak_memory == alone.prediction.peak_memory);
  REQUIRE(plan.prediction.host_memory_per_node == alone.prediction.host_memory_per_node);
  REQUIRE(plan.verdict.reason == alone.verdict.reason);
  const auto simulated_alone = simulated_step(asked.question, asked.strategy, {});
  REQUIRE(simulated_step(both, asked.strategy, {}) == simulated_alone);
}

TEST_CASE("two kinds that differ in nothing that takes time are priced as one, for any degrees and schedule") {
  RandomQuestions random(14);
  constexpr std::array modes{Recompute{}, Recompute{RecomputeMode::full, 1}, Recompute{RecomputeMode::selective, 1},
                             Recompute{RecomputeMode::placed, 1}};
  for (int n = 0; n < 30;) {
    RandomQuestion asked = random.next();
    if (asked.question.cluster().groups.front().count < 2) continue;
    ++n;
    asked.strategy.recompute = random.one_of(modes);
    require_same_as_alone(asked);
  }
}

void multiply_rates(Node& node, double factor) {
  node.device.memory_bandwidth.value = factor * node.device.memory_bandwidth.value;
  for (auto& [format, peak] : node.device.peaks) peak.value = factor * peak.value;
}

TEST_CASE("making one kind faster never makes a step slower") {
  RandomQuestions random(15);
  int faster = 0;
  for (int n = 0; n < 40;) {
    const RandomQuestion asked = random.next();
    if (asked.question.cluster().groups.front().count < 2) continue;
    ++n;
    Cluster cluster = under_two_names(asked.question.cluster());
    const Question before(asked.question.text(), asked.question.network(), cluster);
    multiply_rates(cluster.groups[static_cast<std::size_t>(random.between(0, 1))].node, 1.5);
    const Question after(asked.question.text(), asked.question.network(), cluster);
    INFO(asked.question.text().model << ": " << to_text(asked.strategy));
    const Picoseconds slow = step_of(before, asked.strategy);
    const Picoseconds fast = step_of(after, asked.strategy);
    // Where the backward is split, overlap may move by a rounding of each action.
    REQUIRE(fast <= slow + slow / 1'000'000);
    if (fast < slow) ++faster;
  }
  CHECK(faster > 5);
}

/// Layers of stage 0 of the split whose step is shortest, of all that leave each stage one.
std::int32_t best_by_hand(const Question& question, Strategy s, Picoseconds& best) {
  const auto layers = static_cast<std::int32_t>(question.facts().layers);
  std::int32_t found = 0;
  for (std::int32_t first = 1; first < layers; ++first) {
    s.layers_per_stage = {first, layers - first};
    const Plan plan = evaluate(question, s);
    if (!plan.verdict.fits || (found > 0 && plan.prediction.time.total() >= best)) continue;
    found = first;
    best = plan.prediction.time.total();
  }
  return found;
}

RankedStrategy priced(const Question& question, const Strategy& strategy) {
  RankedStrategy plan;
  plan.strategy = strategy;
  plan.step_time = step_of(question, strategy);
  return plan;
}

TEST_CASE("with two stages the faster devices hold more layers, as many as brute force finds best") {
  for (const char* model : {"gpt2", "gpt2-xl", "llama-3.2-1b"}) {
    INFO(model);
    // Enough tokens that the devices are what a stage waits for, not the host.
    const Question question = on(h100_and_a100(), model, 512, 1024);
    Strategy s = pipeline(2, 1, 8, 8);
    s.micro_batch = 8;
    Picoseconds best(0);
    const std::int32_t by_hand = best_by_hand(question, s, best);
    CHECK(std::int64_t{2} * by_hand > question.facts().layers);
    const auto moved = with_moved_layers(priced(question, s), question);
    REQUIRE(moved);
    CHECK(moved->strategy.layers_per_stage.front() == by_hand);
    CHECK(moved->step_time == best);
    const auto splits = site_splits(question, s, block_costs(question, s));
    REQUIRE(!splits.empty());
    CHECK(std::int64_t{2} * splits.front().front() > question.facts().layers);
    // It may also put the embedding or the head on a stage of its own.
    Strategy balanced = s;
    balanced.split = StageSplit::balanced;
    CHECK(step_of(question, balanced) < step_of(question, s));
  }
}

TEST_CASE("moved layers are as fast as the best of all splits of a small network, with three stages and more devices") {
  Cluster cluster = h100_and_a100();
  cluster.groups[1].count = 2;
  const Question question = on(cluster, "gpt2", 384, 1024);
  Strategy s = pipeline(3, 1, 8, 6);
  s.micro_batch = 8;
  Picoseconds best = Picoseconds::largest();
  for (std::int32_t a = 1; a <= 10; ++a)
    for (std::int32_t b = 1; a + b <= 11; ++b) {
      s.layers_per_stage = {a, b, 12 - a - b};
      best = std::min(best, step_of(question, s));
    }
  s.layers_per_stage.clear();
  const auto moved = with_moved_layers(priced(question, s), question);
  REQUIRE(moved);
  CHECK(moved->step_time == best);
}

TEST_CASE("a search of a mixed cluster finds a split that is faster than any even one") {
  const Question question = on(h100_and_a100(), "llama-3.2-1b", 64, 1024);
  SearchSpace space;
  space.pipeline_stages = {2};
  space.recompute = {Recompute{}};
  SearchOptions options;
  options.top = 1;
  const SearchResult found = search({question}, space, options);
  REQUIRE(found.best.size() == 1);
  const Strategy& best = found.best.front().strategy;
  REQUIRE(best.layers_per_stage.size() >= 2);
  CHECK(accounted(found.audit) == found.audit.total);
  Strategy even = best;
  even.layers_per_stage.clear();
  CHECK(step_of(question, best) < step_of(question, even));
}

TEST_CASE("each stage is held against the memory of its own device") {
  Cluster cluster = h100_and_a100();
  cluster.groups.back().node.device.memory.value = 24_GiB;
  const Question question = on(cluster, "llama-2-7b", 16);
  Strategy s = pipeline(2, 2, 4, 4);
  s.layers_per_stage = {26, 6};
  const Plan on_large = evaluate(question, s);
  CHECK(on_large.verdict.fits);
  CHECK(on_large.prediction.stage_memory[0].device_total() > 24_GiB);
  s.layers_per_stage = {6, 26};
  const Plan on_small = evaluate(question, s);
  CHECK_FALSE(on_small.verdict.fits);
  CHECK(on_small.prediction.heaviest_stage == 1);
  CHECK(on_small.verdict.capacity == 24_GiB);
  // What is counted in parts of the smallest device fits where it fits its own.
  for (const Bytes held : {1_GiB, 24_GiB, 50_GiB, question.capacity(question.stage_sites(s).site(0))})
    CHECK((question.on_smallest(held, question.stage_sites(s).site(0)) <= question.capacity()) ==
          (held <= question.capacity(question.stage_sites(s).site(0))));
}

TEST_CASE("slow links between kinds slow the messages between stages, not the collectives inside") {
  const Cluster fast = h100_and_a100();
  Cluster slow = fast;
  for (NodeGroup& group : slow.groups) group.node.network->bandwidth.value = 0.01 * group.node.network->bandwidth.value;
  const Strategy s = pipeline(2, 8, 1, 8);
  const Plan before = evaluate(on(fast, "llama-2-7b", 8), s);
  const Plan after = evaluate(on(slow, "llama-2-7b", 8), s);
  CHECK(after.prediction.time.total() > before.prediction.time.total());
  CHECK(after.prediction.time[TimeCause::tensor_parallel] == before.prediction.time[TimeCause::tensor_parallel]);
}

TEST_CASE("a stage on the fast kind takes what it takes in a cluster of that kind alone") {
  const Strategy s = pipeline(2, 8, 1, 8);
  const auto stage = [&](const Cluster& cluster, std::size_t rank) {
    const Question question = on(cluster, "llama-2-7b", 8);
    const std::vector<BlockCost> blocks = block_costs(question, s);
    const StageLayout layout = layout_of(question, s, blocks);
    const StageTable stages(question.graph(), layout, blocks);
    return stages[rank].forward_total() + stages[rank].backward_total();
  };
  const Cluster h100 = with_device_count(find_machine("dgx-h100"), 16);
  const Cluster a100 = with_device_count(find_machine("dgx-a100-80g"), 16);
  CHECK(stage(h100_and_a100(), 0) == stage(h100, 0));
  CHECK(stage(h100_and_a100(), 1) == stage(a100, 1));
  CHECK(stage(h100_and_a100(), 0) < stage(h100_and_a100(), 1));
}

TEST_CASE("money and energy of a step are the sums of each kind's") {
  const Cluster cluster = h100_and_a100();
  const Plan plan = evaluate(on(cluster, "gpt2", 16), pipeline(2, 1, 8, 2));
  double dollars_per_hour = 0;
  double watts = 0;
  for (const NodeGroup& group : cluster.groups) {
    dollars_per_hour += 8 * group.node.device.price_per_hour->value.value();
    watts += 8 * group.node.device.power.value.value() + group.node.host_power.value.value();
  }
  const double step = plan.prediction.step_time_s.expected;
  CHECK(plan.prediction.dollars_per_step == Approx(dollars_per_hour * step / 3600));
  CHECK(plan.prediction.joules_per_step == Approx(watts * step));
}

TEST_CASE("a plan of a mixed cluster says which devices each stage holds") {
  const Plan plan = evaluate(on(h100_and_a100(), "gpt2", 16), pipeline(2, 1, 8, 2));
  CHECK(plan.machine.devices_text() == "8 x H100-SXM-80GB and 8 x A100-SXM-80GB");
  REQUIRE(plan.layout.stages.size() == 2);
  CHECK(plan.layout.stages[0].devices == "8 x H100-SXM-80GB");
  CHECK(plan.layout.stages[1].devices == "8 x A100-SXM-80GB");
  CHECK(plan.machine.kinds.size() == 2);
}

}  // namespace
}  // namespace plumbline::mixed_cluster_test
