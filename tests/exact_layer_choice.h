#pragma once
/// \file exact_layer_choice.h: the choice of least time (layer_choice.h) without limits on steps, as an oracle.
///
/// Checked against: tests/property/layer_choice_test.cpp (all assignments by brute force);
/// tests/reference/oracles/recompute_oracles_test.cpp (knap-*, adapipe-*), exact.

#include "planner/checkpointing/knapsack.h"

namespace plumbline {

inline std::int64_t least_time(std::span<const LayerGroup> groups) {
  std::int64_t sum = 0;
  for (const LayerGroup& group : groups) {
    Picoseconds least = Picoseconds::largest();
    for (const LayerOption& option : group.options) least = std::min(least, option.time);
    if (group.count > 0 && !group.options.empty()) sum += group.count * least.value();
  }
  return sum;
}

/// Of equal times the one under the least cap on restored bytes, and there the one that keeps least.
inline std::optional<LayerChoice> choose_layers(std::span<const LayerGroup> groups, std::int64_t in_flight,
                                                Bytes budget) {
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

}  // namespace plumbline
