// Recompute per layer and joint with the partition, against solved instances.

#include "planner/partition/partition.h"
#include "tests/catch.h"
#include "tests/exact_layer_choice.h"
#include "tests/reference/oracles/instances.h"

namespace plumbline {
namespace {

TEST_CASE("recompute knapsacks take the solved time") {
  CHECK(for_each_instance("knapsack", [](JsonObject& row) {
          std::vector<std::vector<LayerOption>> options;
          for (const auto& item : lists_at(row, "items"))  // kept bytes, recomputed bytes, time
            options.push_back({{Bytes(item[0])}, {Bytes(item[1]), Picoseconds(item[2])}});
          std::vector<LayerGroup> groups;
          for (const auto& own : options) groups.push_back({own, 1});
          const auto choice = choose_layers(groups, 1, Bytes(count_at(row, "capacity")));
          REQUIRE(choice);
          INFO(row.at("id").string());
          CHECK(choice->time.value() == count_at(row, "optimum"));
          CHECK(choice->saved.value() <= count_at(row, "capacity"));
        }) == 3);
}

/// The instances' machine: a stage holds its layers' static bytes, K_s times what is kept, and the largest layer that
/// is recomputed.
struct Instance {
  std::vector<std::int64_t> forward, backward, kept, input, fixed;
  std::int64_t stages, micro_batches, memory, head_forward, head_backward;

  explicit Instance(JsonObject& row)
      : forward(counts_at(row, "forward")),
        backward(counts_at(row, "backward")),
        kept(counts_at(row, "kept")),
        input(counts_at(row, "input")),
        fixed(counts_at(row, "static")),
        stages(count_at(row, "stages")),
        micro_batches(count_at(row, "micro_batches")),
        memory(count_at(row, "memory")),
        head_forward(count_at(row, "head_forward")),
        head_backward(count_at(row, "head_backward")) {}

  [[nodiscard]] StagePrices prices() const {
    const auto layers = static_cast<std::int32_t>(forward.size());
    StagePrices table(static_cast<std::int32_t>(stages), layers);
    for (std::int32_t s = 0; s < stages; ++s)
      for (std::int32_t first = 0; first < layers; ++first)
        for (std::int32_t last = first + 1; last <= layers; ++last) price(table, s, first, last);
    return table;
  }
  void price(StagePrices& table, std::int32_t s, std::int32_t first, std::int32_t last) const {
    std::vector<std::vector<LayerOption>> options;
    StagePrice price;
    if (s + 1 == stages) price = {Picoseconds(head_forward), Picoseconds(head_backward)};
    Bytes budget(memory);
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      options.push_back({{Bytes(kept[i])}, {Bytes(input[i]), Picoseconds(forward[i]), Bytes(kept[i])}});
      price.forward += Picoseconds(forward[i]);
      price.backward += Picoseconds(backward[i]);
      budget -= Bytes(fixed[i]);
    }
    std::vector<LayerGroup> groups;
    for (const auto& own : options) groups.push_back({own, 1});
    const auto choice = choose_layers(groups, std::min(micro_batches, stages - s), budget);
    if (!choice) return;
    price.backward += choice->time;
    table.set(s, first, last, price);
  }
};

TEST_CASE("partition and recompute together are as fast as in the solved instances") {
  CHECK(for_each_instance("recompute_partition", [](JsonObject& row) {
          const Instance instance(row);
          const StagePrices prices = instance.prices();
          const Picoseconds hop(count_at(row, "latency"));
          const auto surrogate = sum_and_max_partition(prices, instance.micro_batches);
          REQUIRE(surrogate);
          INFO(row.at("id").string());
          // The instances' surrogate counts every link once in each direction.
          const Picoseconds links = 2 * (instance.stages - 1) * hop;
          CHECK((surrogate->value + links).value() == count_at(row, "surrogate"));
          CHECK(surrogate->layers == small_counts_at(row, "surrogate_partition"));
          const std::vector<Picoseconds> latency(static_cast<std::size_t>(instance.stages - 1), hop);
          const auto exact = one_f_one_b_partition(prices, latency, instance.micro_batches);
          REQUIRE(exact);
          CHECK(exact->partition.value.value() == count_at(row, "optimum"));
          CHECK(exact->partition.layers == small_counts_at(row, "partition"));
        }) == 3);
}

}  // namespace
}  // namespace plumbline
