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

bool has_options(std::span<const LayerGroup> groups, Bytes cap) {
  return std::all_of(groups.begin(), groups.end(), [&](const LayerGroup& group) {
    return group.count == 0 || std::any_of(group.options.begin(), group.options.end(),
                                           [&](const LayerOption& o) { return o.restored <= cap; });
  });
}

}  // namespace

std::optional<LayerChoice> choose_layers(std::span<const LayerGroup> groups, std::int64_t in_flight, Bytes budget) {
  const OptionOrders orders = sorted_options(groups);
  std::vector<Knapsack> knapsacks;
  std::int64_t limit = Picoseconds::largest().value();
  for (const Bytes cap : restored_caps(groups)) {
    if (cap > budget) break;
    if (!has_options(groups, cap)) continue;
    Knapsack knapsack(groups, orders, cap, (budget - cap).value() / in_flight);
    if (!knapsack.fits() || knapsack.bound() > limit) continue;
    limit = std::min(limit, knapsack.reachable());
    knapsacks.push_back(std::move(knapsack));
  }
  std::optional<LayerChoice> best;
  const auto held = [&](const LayerChoice& choice) { return in_flight * choice.saved + choice.restored; };
  for (Knapsack& knapsack : knapsacks) {
    if (knapsack.bound() > limit) continue;
    const auto choice = knapsack.solve(limit);
    if (!choice || (best && choice->time == best->time && held(*choice) >= held(*best))) continue;
    best = choice;
    limit = best->time.value();
  }
  return best;
}

}  // namespace plumbline
