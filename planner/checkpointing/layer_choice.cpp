#include "planner/checkpointing/layer_choice.h"

#include <algorithm>

#include "planner/checkpointing/knapsack.h"

namespace plumbline {
namespace {

std::vector<Bytes> restored_caps(std::span<const LayerGroup> groups) {
  std::vector<Bytes> caps;
  for (const LayerGroup& group : groups)
    if (group.count > 0)
      for (const LayerOption& option : group.options) caps.push_back(option.restored);
  if (caps.empty()) caps.emplace_back(0);
  std::sort(caps.begin(), caps.end());
  caps.erase(std::unique(caps.begin(), caps.end()), caps.end());
  return caps;
}

std::int64_t least_time(std::span<const LayerGroup> groups) {
  std::int64_t sum = 0;
  for (const LayerGroup& group : groups) {
    Picoseconds least = Picoseconds::largest();
    for (const LayerOption& option : group.options) least = std::min(least, option.time);
    if (group.count > 0 && !group.options.empty()) sum += group.count * least.value();
  }
  return sum;
}

bool has_options(std::span<const LayerGroup> groups, Bytes cap) {
  return std::all_of(groups.begin(), groups.end(), [&](const LayerGroup& group) {
    return group.count == 0 || std::any_of(group.options.begin(), group.options.end(),
                                           [&](const LayerOption& o) { return o.restored <= cap; });
  });
}

}  // namespace

std::optional<LayerChoice> choose_layers(std::span<const LayerGroup> groups, std::int64_t in_flight, Bytes budget) {
  const OptionOrders orders = sorted_options(groups);
  const std::int64_t fastest = least_time(groups);
  std::vector<Knapsack> knapsacks;
  std::int64_t limit = Picoseconds::largest().value();
  for (const Bytes cap : restored_caps(groups)) {
    if (cap > budget || limit == fastest) break;
    if (!has_options(groups, cap)) continue;
    Knapsack knapsack(groups, orders, cap, (budget - cap).value() / in_flight);
    if (!knapsack.fits() || knapsack.bound() > limit) continue;
    limit = std::min(limit, knapsack.reachable());
    knapsacks.push_back(std::move(knapsack));
  }
  std::optional<LayerChoice> best;
  for (Knapsack& knapsack : knapsacks) {
    if (knapsack.bound() > limit) continue;
    if (auto choice = knapsack.solve(limit)) {
      limit = choice->time.value() - 1;  // only a faster one is better
      best = std::move(choice);
    }
  }
  return best;
}

}  // namespace plumbline
