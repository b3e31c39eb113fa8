#include "planner/checkpointing/layer_choice.h"

#include <algorithm>
#include <optional>

#include "planner/checkpointing/capped_options.h"

namespace plumbline {
namespace {

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
