// Stage partitions against solved instances: all compositions, dynamic programming and longest paths agree on them.

#include "planner/partition/partition.h"
#include "tests/catch.h"
#include "tests/reference/oracles/instances.h"

namespace plumbline {
namespace {

std::int64_t sum(const std::vector<std::int64_t>& values, std::int32_t first, std::int32_t last) {
  return std::accumulate(values.begin() + first, values.begin() + last, std::int64_t{0});
}

/// Sums of layers, with the extra of the first and of the last stage.
StagePrices prices_of(const std::vector<std::int64_t>& forward, std::int32_t stages, std::int64_t backward_per_forward,
                      std::int64_t first_extra, std::int64_t last_extra) {
  const auto layers = static_cast<std::int32_t>(forward.size());
  StagePrices prices(stages, layers);
  for (std::int32_t s = 0; s < stages; ++s)
    for (std::int32_t first = 0; first < layers; ++first)
      for (std::int32_t last = first + 1; last <= layers; ++last) {
        const std::int64_t time =
            sum(forward, first, last) + (s == 0 ? first_extra : 0) + (s + 1 == stages ? last_extra : 0);
        prices.set(s, first, last, {Picoseconds(time), Picoseconds(backward_per_forward * time)});
      }
  return prices;
}

TEST_CASE("the slowest stage is as fast as in the solved instances") {
  CHECK(for_each_instance("min_max", [](JsonObject& row) {
          const StagePrices prices =
              prices_of(counts_at(row, "time"), static_cast<std::int32_t>(count_at(row, "stages")), 0,
                        count_at(row, "first_extra"), count_at(row, "last_extra"));
          const auto found = min_max_partition(prices);
          REQUIRE(found);
          INFO(row.at("id").string());
          CHECK(found->value.value() == count_at(row, "optimum"));
          CHECK(found->layers == small_counts_at(row, "partition"));
        }) == 4);
}

TEST_CASE("partitions under 1F1B are those of the solved instances, by surrogate and by makespan") {
  CHECK(for_each_instance("one_f_one_b", [](JsonObject& row) {
          const auto stages = static_cast<std::int32_t>(count_at(row, "stages"));
          const std::int64_t m = count_at(row, "micro_batches");
          const StagePrices prices = prices_of(counts_at(row, "forward"), stages, count_at(row, "backward_per_forward"),
                                               count_at(row, "first_extra"), count_at(row, "last_extra"));
          const auto surrogate = sum_and_max_partition(prices, m);
          REQUIRE(surrogate);
          INFO(row.at("id").string());
          CHECK(surrogate->value.value() == count_at(row, "surrogate"));
          CHECK(surrogate->layers == small_counts_at(row, "surrogate_partition"));
          const std::vector<Picoseconds> latency(static_cast<std::size_t>(stages - 1));
          const auto exact = one_f_one_b_partition(prices, latency, m);
          REQUIRE(exact);
          CHECK(exact->proven);
          CHECK(exact->partition.value.value() == count_at(row, "optimum"));
          CHECK(exact->partition.layers == small_counts_at(row, "partition"));
        }) == 2);
}

}  // namespace
}  // namespace plumbline
