// Recompute choices per layer against all choices, on random options and on the sets of a real block.

#include "planner/checkpointing/layer_chooser.h"

#include <numeric>
#include <random>

#include "planner/checkpointing/option_hull.h"
#include "tests/block_choices.h"
#include "tests/catch.h"
#include "tests/exact_layer_choice.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

struct Load {
  std::int64_t saved = 0, time = 0, restored = 0;
};
/// Every assignment of options to the layers of all groups.
template <class Visit>
void for_each_assignment(const std::vector<LayerGroup>& groups, std::size_t g, std::int64_t layer, Load load,
                         const Visit& visit) {
  if (g == groups.size()) return visit(load);
  if (layer == groups[g].count) return for_each_assignment(groups, g + 1, 0, load, visit);
  for (const LayerOption& o : groups[g].options)
    for_each_assignment(
        groups, g, layer + 1,
        {load.saved + o.saved.value(), load.time + o.time.value(), std::max(load.restored, o.restored.value())}, visit);
}

TEST_CASE("choices of random layers are the best of all assignments") {
  std::mt19937 random(11);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int i = 0; i < 400; ++i) {
    std::vector<std::vector<LayerOption>> options;
    std::vector<LayerGroup> groups;
    for (std::int64_t g = 0; g <= below(2); ++g) {
      options.emplace_back();
      for (std::int64_t o = 0; o <= below(5); ++o)
        options.back().push_back({Bytes(below(20)), Picoseconds(below(30)), Bytes(below(3) * 5)});
    }
    for (const auto& own : options) groups.push_back({own, 1 + below(3)});
    const std::int64_t in_flight = 1 + below(4);
    const std::int64_t budget = below(140);
    std::optional<std::pair<std::int64_t, std::int64_t>> best;  // time, held
    std::int64_t least = Bytes::largest().value();
    for_each_assignment(groups, 0, 0, {}, [&](const Load& load) {
      const std::int64_t held = in_flight * load.saved + load.restored;
      const std::pair price{load.time, held};
      least = std::min(least, held);
      if (held <= budget && (!best || price < *best)) best = price;
    });
    const auto found = choose_layers(groups, in_flight, Bytes(budget));
    INFO("instance " << i);
    const LayerChoice smallest = smallest_layers(groups, in_flight);
    REQUIRE(in_flight * smallest.saved.value() + smallest.restored.value() == least);
    REQUIRE(found.has_value() == best.has_value());
    LayerChooser chooser(groups);
    static_cast<void>(chooser.choose(1 + below(4), Bytes(below(140)), Picoseconds(0)));  // leaves no trace
    const auto relaxed = chooser.least_replay(in_flight, Bytes(budget));
    const auto near = chooser.choose(in_flight, Bytes(budget), Picoseconds(i % 4));
    REQUIRE(near.has_value() == best.has_value());
    if (!found) continue;
    REQUIRE(relaxed);
    REQUIRE(relaxed->value() <= best->first);
    REQUIRE(near->time.value() <= best->first + i % 4);
    REQUIRE(near->time.value() >= best->first);
    REQUIRE(in_flight * near->saved.value() + near->restored.value() <= budget);
    REQUIRE(found->time.value() == best->first);
    REQUIRE(in_flight * found->saved.value() + found->restored.value() <= budget);
    std::int64_t layers = 0;
    for (const auto& counts : found->layers) layers += std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    REQUIRE(layers == std::accumulate(groups.begin(), groups.end(), std::int64_t{0},
                                      [](std::int64_t sum, const LayerGroup& g) { return sum + g.count; }));
  }
}

TEST_CASE("ranks that share the options of their layers choose as if each had its own") {
  std::mt19937 random(19);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int i = 0; i < 200; ++i) {
    std::vector<std::vector<LayerOption>> options(2);
    for (auto& own : options)
      for (std::int64_t o = 0; o <= below(12); ++o)
        own.push_back({Bytes(below(40)), Picoseconds(below(60)), Bytes(below(6) * 5)});
    const std::vector<LayerGroup> first{{options[0], 1 + below(4)}, {options[1], 1 + below(4)}};
    const OptionCaps caps(first);
    for (int rank = 0; rank < 4; ++rank) {
      const std::vector<LayerGroup> groups{{options[0], 1 + below(9)}, {options[1], 1 + below(9)}};
      const std::int64_t in_flight = 1 + below(4);
      const Bytes budget(below(900));
      const auto shared = LayerChooser(groups, caps).choose(in_flight, budget, Picoseconds(2));
      const auto own = LayerChooser(groups).choose(in_flight, budget, Picoseconds(2));
      REQUIRE(shared.has_value() == own.has_value());
      if (shared) REQUIRE(shared->layers == own->layers);
    }
  }
}

TEST_CASE("the relaxation is never above what can be reached") {
  std::mt19937 random(13);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int i = 0; i < 300; ++i) {
    std::vector<std::vector<LayerOption>> options(2);
    for (auto& own : options)
      for (std::int64_t o = 0; o <= below(5); ++o) own.push_back({Bytes(below(20)), Picoseconds(below(30)), Bytes(0)});
    const std::vector<std::int64_t> counts{below(4), below(4)};
    const std::vector<LayerGroup> groups{{options[0], counts[0]}, {options[1], counts[1]}};
    const OptionHull hull(options);
    const std::int64_t capacity = counts[0] * hull.smallest(0) + counts[1] * hull.smallest(1) + below(60);
    std::int64_t best = std::int64_t{1} << 60;
    for_each_assignment(groups, 0, 0, {}, [&](const Load& load) {
      if (load.saved <= capacity) best = std::min(best, load.time);
    });
    REQUIRE(hull.bound(counts, capacity) <= best);
    REQUIRE(hull.reachable(counts, capacity) >= best);
  }
}

// Each option restores something else, so that there are as many caps as options: what attention without FlashAttention
// offers.
TEST_CASE("layers of hundreds of options are chosen near the best in a limited number of steps") {
  std::mt19937 random(17);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  double worst = 0;
  for (int i = 0; i < 12; ++i) {
    std::vector<LayerOption> options;
    std::int64_t time = 0;
    for (std::int64_t o = 0; o < 200; ++o) {
      time += 1000 + below(5000);
      options.push_back(
          {Bytes(4'000'000 - o * 20'000 + below(10'000)), Picoseconds(time), Bytes(o * 3000 + below(3000))});
    }
    const std::vector<LayerGroup> groups{{options, 3 + below(4)}};
    const std::int64_t in_flight = 1 + below(4);
    const LayerChoice smallest = smallest_layers(groups, in_flight);
    const Bytes least = in_flight * smallest.saved + smallest.restored;
    LayerChooser chooser(groups);
    CHECK_FALSE(chooser.choose(in_flight, least - Bytes(1), Picoseconds(0)));
    const Bytes budget = least + Bytes(below(12'000'000));
    const auto exact = choose_layers(groups, in_flight, budget);
    const auto chosen = chooser.choose(in_flight, budget, Picoseconds(0));
    REQUIRE(exact);
    REQUIRE(chosen);
    CHECK(in_flight * chosen->saved + chosen->restored <= budget);
    worst = std::max(worst, chosen->time / exact->time - 1);
  }
  WARN("longer than the best by at most " << 100 * worst << " %");
  CHECK(worst < 0.02);
}

// Two layers, four micro-batches in flight, a budget halfway between what full recompute and no recompute hold.
TEST_CASE("where full recompute wastes memory and none exceeds it, the placed set beats both and no set beats it") {
  Training training;
  training.sequence_length = 2048;
  const BlockPricer pricer(round_cluster(1), round_calibration());
  Strategy s;
  s.tensor_parallel = 2;
  s.sequence_parallel = SequenceParallel::on;
  for (const FlashAttention flash : {FlashAttention::off, FlashAttention::on}) {
    s.flash_attention = flash;
    const Graph graph = llama({2, 2048, 16, 8, 128, 5632, 32000});
    const RecomputeProblem problem =
        recompute_problem(first_layer(graph), shard_of(s, training), block_groups(s), pricer);
    std::vector<LayerOption> options;
    for (const RecomputeChoice& c : block_choices(problem)) options.push_back({c.saved, c.time, c.restored});
    std::vector<LayerOption> sets;  // all of them
    for (std::uint32_t set = 0; set < (1U << problem.ops.size()); ++set) {
      std::vector<bool> replayed;
      bool allowed = true;
      for (std::size_t o = 0; o < problem.ops.size(); ++o) {
        replayed.push_back(((set >> o) & 1U) != 0);
        allowed = allowed && (!replayed[o] || problem.ops[o].can_replay);
      }
      if (!allowed) continue;
      const RecomputeChoice c = price_choice(problem, replayed);
      if (c.replayed == replayed) sets.push_back({c.saved, c.time, c.restored});
    }
    const LayerOption none = sets.front();
    const LayerOption full = sets.back();
    constexpr std::int64_t in_flight = 4;
    constexpr std::int64_t layers = 2;
    const auto held = [&](const LayerOption& o) { return in_flight * layers * o.saved + o.restored; };
    REQUIRE(held(full) < held(none));
    for (const std::int64_t share : {1, 2, 3}) {
      const Bytes budget = held(full) + (held(none) - held(full)) * share / std::int64_t{4};
      const std::vector<LayerGroup> groups{{options, layers}};
      const auto placed = choose_layers(groups, in_flight, budget);
      REQUIRE(placed);
      CHECK(held(none) > budget);
      CHECK(placed->time < layers * full.time);
      Picoseconds best = Picoseconds::largest();
      for (const LayerOption& a : sets)
        for (const LayerOption& b : sets)
          if (in_flight * (a.saved + b.saved) + std::max(a.restored, b.restored) <= budget)
            best = std::min(best, a.time + b.time);
      INFO("sets " << sets.size() << ", choices " << options.size());
      CHECK(placed->time == best);
    }
  }
}

}  // namespace
}  // namespace plumbline
