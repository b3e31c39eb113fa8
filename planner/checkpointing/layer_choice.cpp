#include "planner/checkpointing/layer_choice.h"

#include <algorithm>

#include "planner/checkpointing/option_hull.h"
#include "planner/pareto/front.h"

namespace plumbline {
namespace {

struct Label {
  std::int64_t saved = 0;
  std::int64_t time = 0;
  std::int32_t taken = -1;  ///< index of the last layer's choice
};
struct Taken {
  std::size_t group = 0;
  std::size_t option = 0;  ///< of the group's own options
  std::int32_t before = -1;
};

/// The knapsack under one cap on restored bytes.
class Knapsack {
 public:
  Knapsack(std::span<const LayerGroup> groups, Bytes cap) : groups_(groups) {
    for (const LayerGroup& group : groups) {
      allowed_.emplace_back();
      original_.emplace_back();
      for (std::size_t o = 0; o < group.options.size(); ++o) {
        if (group.options[o].restored > cap) continue;
        allowed_.back().push_back(group.options[o]);
        original_.back().push_back(o);
      }
    }
  }

  [[nodiscard]] bool has_options() const {
    for (std::size_t g = 0; g < allowed_.size(); ++g)
      if (allowed_[g].empty() && groups_[g].count > 0) return false;
    return true;
  }
  /// The best choice of at most `capacity` kept bytes and at most `limit` time.
  std::optional<LayerChoice> solve(std::int64_t capacity, std::int64_t limit);

 private:
  void add_layer(std::size_t group, const OptionHull& hull, const std::vector<std::int64_t>& left,
                 std::int64_t capacity, std::int64_t limit);
  [[nodiscard]] LayerChoice read(const Label& label) const;

  std::span<const LayerGroup> groups_;
  std::vector<std::vector<LayerOption>> allowed_;
  std::vector<std::vector<std::size_t>> original_;
  std::vector<Label> labels_;
  std::vector<Taken> taken_;
};

void Knapsack::add_layer(std::size_t g, const OptionHull& hull, const std::vector<std::int64_t>& left,
                         std::int64_t capacity, std::int64_t limit) {
  std::int64_t reserved = 0;
  for (std::size_t other = 0; other < left.size(); ++other) reserved += left[other] * hull.smallest(other);
  std::vector<Label> next;
  std::vector<ParetoPoint<2>> points;
  std::vector<Taken> choices;
  for (const Label& label : labels_)
    for (std::size_t o = 0; o < allowed_[g].size(); ++o) {
      const std::int64_t saved = label.saved + allowed_[g][o].saved.value();
      const std::int64_t time = label.time + allowed_[g][o].time.value();
      if (saved + reserved > capacity || time + hull.bound(left, capacity - saved) > limit) continue;
      next.push_back({saved, time, label.taken});
      points.push_back({saved, time});
      choices.push_back({g, original_[g][o], label.taken});
    }
  labels_.clear();
  for (const std::size_t i : pareto_front(points)) {
    labels_.push_back({next[i].saved, next[i].time, static_cast<std::int32_t>(taken_.size())});
    taken_.push_back(choices[i]);
  }
}

std::optional<LayerChoice> Knapsack::solve(std::int64_t capacity, std::int64_t limit) {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (allowed_[g].empty()) allowed_[g].push_back({});  // of no layers: never taken
  const OptionHull hull(allowed_);
  std::vector<std::int64_t> left;
  std::int64_t smallest = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    left.push_back(groups_[g].count);
    smallest += groups_[g].count * hull.smallest(g);
  }
  if (smallest > capacity || hull.bound(left, capacity) > limit) return std::nullopt;
  limit = std::min(limit, hull.reachable(left, capacity));
  labels_.assign(1, {});
  for (std::size_t g = 0; g < groups_.size(); ++g)
    while (left[g] > 0) {
      --left[g];
      add_layer(g, hull, left, capacity, limit);
    }
  // In increasing order of bytes, so the last is the fastest.
  if (labels_.empty()) return std::nullopt;
  return read(labels_.back());
}

LayerChoice Knapsack::read(const Label& label) const {
  LayerChoice choice;
  choice.time = Picoseconds(label.time);
  choice.saved = Bytes(label.saved);
  for (const LayerGroup& group : groups_) choice.layers.emplace_back(group.options.size(), 0);
  for (std::int32_t t = label.taken; t >= 0; t = taken_[static_cast<std::size_t>(t)].before) {
    const Taken& taken = taken_[static_cast<std::size_t>(t)];
    ++choice.layers[taken.group][taken.option];
    choice.restored = std::max(choice.restored, groups_[taken.group].options[taken.option].restored);
  }
  return choice;
}

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

}  // namespace

std::optional<LayerChoice> choose_layers(std::span<const LayerGroup> groups, std::int64_t in_flight, Bytes budget) {
  std::optional<LayerChoice> best;
  const auto held = [&](const LayerChoice& choice) { return in_flight * choice.saved + choice.restored; };
  for (const Bytes cap : restored_caps(groups)) {
    if (cap > budget) break;
    Knapsack knapsack(groups, cap);
    if (!knapsack.has_options()) continue;
    const std::int64_t limit = best ? best->time.value() : Picoseconds::largest().value();
    const auto choice = knapsack.solve((budget - cap).value() / in_flight, limit);
    if (!choice || (best && choice->time == best->time && held(*choice) >= held(*best))) continue;
    if (!best || choice->time <= best->time) best = choice;
  }
  return best;
}

}  // namespace plumbline
