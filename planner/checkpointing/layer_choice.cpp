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

/// The linear relaxation over all options, whatever they restore.
class Relaxation {
 public:
  explicit Relaxation(std::span<const LayerGroup> groups) : options_(options_of(groups)), hull_(options_) {
    for (const LayerGroup& group : groups)
      if (group.count > 0) counts_.push_back(group.count);
  }

  /// Never more than the time of any choice within `capacity` kept bytes; nothing when none fits.
  [[nodiscard]] std::optional<std::int64_t> bound(std::int64_t capacity) const {
    if (capacity < hull_.least_bytes(counts_)) return std::nullopt;
    return hull_.bound(counts_, capacity);
  }
  /// The most that a layer restores where the relaxation has a choice that leaves room for it.
  [[nodiscard]] Bytes restored(Bytes budget, std::int64_t in_flight) const {
    std::vector<std::size_t> corner;
    Bytes most(0);
    for (std::size_t g = 0; g < options_.size(); ++g) {
      corner.push_back(hull_.first_option(g));
      most = std::max(most, options_[g][corner[g]].restored);
    }
    std::int64_t left = (budget - most).value() / in_flight - hull_.least_bytes(counts_);
    for (const HullStep& step : hull_.steps()) {
      left -= counts_[step.group] * step.bytes;
      if (left < 0) break;
      corner[step.group] = step.option;
    }
    most = Bytes(0);
    for (std::size_t g = 0; g < options_.size(); ++g) most = std::max(most, options_[g][corner[g]].restored);
    return most;
  }

 private:
  static std::vector<std::vector<LayerOption>> options_of(std::span<const LayerGroup> groups) {
    std::vector<std::vector<LayerOption>> options;
    for (const LayerGroup& group : groups)
      if (group.count > 0) options.emplace_back(group.options.begin(), group.options.end());
    return options;
  }
  std::vector<std::vector<LayerOption>> options_;
  OptionHull hull_;
  std::vector<std::int64_t> counts_;
};

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

std::optional<LayerChoice> choose_layers_within(std::span<const LayerGroup> groups, std::int64_t in_flight,
                                                Bytes budget, Picoseconds tolerance) {
  const Relaxation relaxation(groups);
  const OptionOrders orders = sorted_options(groups);
  std::optional<LayerChoice> best;
  std::vector<Knapsack> open;
  const auto may_win = [&](std::optional<std::int64_t> bound) {
    return bound && (!best || *bound + tolerance.value() < best->time.value());
  };
  // What the relaxation would restore is where the best is likely to be found; all other caps are held against it.
  std::vector<Bytes> caps = restored_caps(groups);
  const Bytes likely = relaxation.restored(budget, in_flight);
  std::stable_partition(caps.begin(), caps.end(), [&](Bytes cap) { return cap == likely; });
  for (const Bytes cap : caps) {
    if (cap > budget || !has_options(groups, cap)) continue;
    const std::int64_t capacity = (budget - cap).value() / in_flight;
    if (!may_win(relaxation.bound(capacity))) continue;
    Knapsack knapsack(groups, orders, cap, capacity);
    if (!knapsack.fits() || !may_win(knapsack.bound())) continue;
    LayerChoice choice = knapsack.exchanged();
    if (!best || choice.time < best->time) best = std::move(choice);
    open.push_back(std::move(knapsack));
  }
  for (Knapsack& knapsack : open) {
    if (!may_win(knapsack.bound())) continue;
    if (auto choice = knapsack.solve(best->time.value() - tolerance.value() - 1)) best = std::move(choice);
  }
  return best;
}

std::optional<Picoseconds> least_replay(std::span<const LayerGroup> groups, std::int64_t in_flight, Bytes budget) {
  Bytes restored(0);  // what some layer puts back whatever is chosen
  for (const LayerGroup& group : groups) {
    if (group.count == 0) continue;
    Bytes least = Bytes::largest();
    for (const LayerOption& option : group.options) least = std::min(least, option.restored);
    restored = std::max(restored, least);
  }
  if (restored > budget) return std::nullopt;
  const auto bound = Relaxation(groups).bound((budget - restored).value() / in_flight);
  return bound ? std::optional(Picoseconds(std::max<std::int64_t>(0, *bound))) : std::nullopt;
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
