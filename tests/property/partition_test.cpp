// Stage partitions of random small instances against all compositions.

#include "planner/partition/partition.h"

#include <numeric>
#include <random>

#include "core/cost/pipeline_time.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Layers = std::vector<std::int32_t>;

void compositions(std::int32_t layers, std::int32_t stages, Layers& prefix, std::vector<Layers>& all) {
  if (stages == 1) {
    all.push_back(prefix);
    all.back().push_back(layers);
    return;
  }
  for (std::int32_t l = 1; l <= layers - stages + 1; ++l) {
    prefix.push_back(l);
    compositions(layers - l, stages - 1, prefix, all);
    prefix.pop_back();
  }
}

struct Instance {
  StagePrices prices;
  std::vector<Picoseconds> latency;
  std::int64_t micro_batches;
};

/// Times that grow with the layers of a stage, some ranges missing; every other instance has equal layers.
Instance random_instance(std::mt19937& random, bool equal_layers) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  const auto stages = static_cast<std::int32_t>(1 + below(5));
  const auto layers = static_cast<std::int32_t>(stages + below(6));
  Instance instance{StagePrices(stages, layers), {}, 1 + below(9)};
  for (std::int32_t s = 0; s + 1 < stages; ++s) instance.latency.emplace_back(below(3) == 0 ? below(4) : 0);
  std::vector<std::int64_t> forward;
  for (std::int32_t i = 0; i < layers; ++i) forward.push_back(equal_layers ? 6 : 1 + below(9));
  for (std::int32_t s = 0; s < stages; ++s)
    for (std::int32_t first = 0; first < layers; ++first)
      for (std::int32_t last = first + 1; last <= layers; ++last) {
        if (below(12) == 0) continue;
        const std::int64_t f = std::accumulate(forward.begin() + first, forward.begin() + last, std::int64_t{0});
        const std::int64_t replay = equal_layers ? 0 : below(f + 1);
        const std::int64_t head = s + 1 == stages ? 5 : 0;
        instance.prices.set(s, first, last, {Picoseconds(f + head), Picoseconds(2 * f + head + replay)});
      }
  return instance;
}

struct Simulated {
  std::int64_t sum = 0, slowest = 0, makespan = 0;
};
std::optional<Simulated> simulated(const Instance& instance, const Layers& layers) {
  std::vector<Picoseconds> forward, backward;
  Simulated result;
  std::int32_t first = 0;
  for (std::int32_t s = 0; s < instance.prices.stages(); ++s) {
    const std::int32_t last = first + layers[static_cast<std::size_t>(s)];
    if (!instance.prices.fits(s, first, last)) return std::nullopt;
    const StagePrice& price = instance.prices.at(s, first, last);
    forward.push_back(price.forward);
    backward.push_back(price.backward);
    result.sum += price.total().value();
    result.slowest = std::max(result.slowest, price.total().value());
    first = last;
  }
  result.makespan = one_f_one_b_makespan({forward, backward, instance.latency}, instance.micro_batches).value();
  return result;
}

/// Least value over all compositions, and the lexicographically smallest that has it.
template <class Value>
std::optional<StagePartition> by_brute_force(const Instance& instance, Value value) {
  std::vector<Layers> all;
  Layers prefix;
  compositions(instance.prices.layers(), instance.prices.stages(), prefix, all);
  std::optional<StagePartition> best;
  for (const Layers& layers : all) {
    const auto run = simulated(instance, layers);
    if (run && (!best || value(*run) < best->value.value())) best = StagePartition{layers, Picoseconds(value(*run))};
  }
  return best;
}

void check_equal(const std::optional<StagePartition>& found, const std::optional<StagePartition>& solved) {
  REQUIRE(found.has_value() == solved.has_value());
  if (!found) return;
  REQUIRE(found->value == solved->value);
  REQUIRE(found->layers == solved->layers);
}

TEST_CASE("partitions of random instances are the best of all compositions") {
  std::mt19937 random(99);
  for (int i = 0; i < 1000; ++i) {
    const Instance instance = random_instance(random, i % 2 == 0);
    INFO("instance " << i);
    check_equal(min_max_partition(instance.prices),
                by_brute_force(instance, [](const Simulated& p) { return p.slowest; }));
    check_equal(
        sum_and_max_partition(instance.prices, instance.micro_batches),
        by_brute_force(instance, [&](const Simulated& p) { return p.sum + (instance.micro_batches - 1) * p.slowest; }));
    const auto exact = one_f_one_b_partition(instance.prices, instance.latency, instance.micro_batches);
    if (exact) REQUIRE(exact->proven);
    check_equal(exact ? std::optional(exact->partition) : std::nullopt,
                by_brute_force(instance, [](const Simulated& p) { return p.makespan; }));
  }
}

TEST_CASE("a limit on partitions simulated is reported") {
  std::mt19937 random(3);
  StagePrices prices(4, 12);
  for (std::int32_t s = 0; s < 4; ++s)
    for (std::int32_t first = 0; first < 12; ++first)
      for (std::int32_t last = first + 1; last <= 12; ++last)
        prices.set(s, first, last,
                   {Picoseconds(6 * (last - first) + (s == 3 ? 10 : 0)), Picoseconds(12 * (last - first))});
  const std::vector<Picoseconds> latency(3);
  const auto limited = one_f_one_b_partition(prices, latency, 8, 1);
  REQUIRE(limited);
  CHECK_FALSE(limited->proven);
}

}  // namespace
}  // namespace plumbline
