#include "planner/checkpointing/layer_choice.h"

#include <algorithm>

#include "planner/checkpointing/knapsack.h"

namespace plumbline {
namespace {

std::int64_t least_time(std::span<const LayerGroup> groups) {
  std::int64_t sum = 0;
  for (const LayerGroup& group : groups) {
    Picoseconds least = Picoseconds::largest();
    for (const LayerOption& option : group.options) least = std::min(least, option.time);
    if (group.count > 0 && !group.options.empty()) sum += group.count * least.value();
  }
  return sum;
}

/// Every layer takes what keeps least under a cap on restored bytes; of equals what takes least time.
LayerChoice least_kept(std::span<const LayerGroup> groups, Bytes cap) {
  LayerChoice choice;
  for (const LayerGroup& group : groups) {
    std::size_t least = group.options.size();
    for (std::size_t o = 0; o < group.options.size(); ++o) {
      const LayerOption& option = group.options[o];
      if (option.restored > cap) continue;
      if (least == group.options.size() ||
          std::pair(option.saved, option.time) < std::pair(group.options[least].saved, group.options[least].time))
        least = o;
    }
    choice.layers.emplace_back(group.options.size(), 0);
    if (group.count == 0) continue;
    choice.layers.back()[least] = group.count;
    choice.saved += group.count * group.options[least].saved;
    choice.time += group.count * group.options[least].time;
    choice.restored = std::max(choice.restored, group.options[least].restored);
  }
  return choice;
}

}  // namespace

std::optional<LayerChoice> choose_layers(std::span<const LayerGroup> groups, std::int64_t in_flight, Bytes budget) {
  const OptionOrders orders = sorted_options(groups);
  const std::int64_t fastest = least_time(groups);
  struct Open {
    CappedOptions options;
    std::int64_t capacity = 0;
  };
  std::vector<Open> open;
  std::int64_t limit = Picoseconds::largest().value();
  for (const Bytes cap : restored_caps(groups)) {
    if (cap > budget || limit == fastest) break;
    if (!has_options(groups, cap)) continue;
    const std::int64_t capacity = (budget - cap).value() / in_flight;
    CappedOptions options(groups, orders, cap);
    const Knapsack knapsack(groups, options);
    if (!knapsack.fits(capacity) || knapsack.bound(capacity) > limit) continue;
    limit = std::min(limit, knapsack.reachable(capacity));
    open.push_back({std::move(options), capacity});
  }
  std::optional<LayerChoice> best;
  ChoiceEffort effort;
  for (const auto& [options, capacity] : open) {
    const Knapsack knapsack(groups, options);
    if (knapsack.bound(capacity) > limit) continue;
    if (auto choice = knapsack.solve(capacity, limit, effort)) {
      limit = choice->time.value() - 1;  // only a faster one is better
      best = std::move(choice);
    }
  }
  return best;
}

LayerChoice smallest_layers(std::span<const LayerGroup> groups, std::int64_t in_flight) {
  std::optional<LayerChoice> best;
  for (const Bytes cap : restored_caps(groups)) {
    if (!has_options(groups, cap)) continue;
    LayerChoice choice = least_kept(groups, cap);
    if (!best || in_flight * choice.saved + choice.restored < in_flight * best->saved + best->restored)
      best = std::move(choice);
  }
  return best.value_or(LayerChoice{});
}

}  // namespace plumbline
