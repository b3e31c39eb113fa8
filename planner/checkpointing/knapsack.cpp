#include "planner/checkpointing/knapsack.h"

#include <algorithm>
#include <numeric>

#include "planner/pareto/front.h"

namespace plumbline {

OptionOrders sorted_options(std::span<const LayerGroup> groups) {
  OptionOrders orders;
  for (const LayerGroup& group : groups) {
    std::vector<std::size_t> order(group.options.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const LayerOption& x = group.options[a];
      const LayerOption& y = group.options[b];
      return x.saved != y.saved ? x.saved < y.saved : x.time < y.time;
    });
    orders.push_back(std::move(order));
  }
  return orders;
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

bool has_options(std::span<const LayerGroup> groups, Bytes cap) {
  return std::all_of(groups.begin(), groups.end(), [&](const LayerGroup& group) {
    return group.count == 0 || std::any_of(group.options.begin(), group.options.end(),
                                           [&](const LayerOption& o) { return o.restored <= cap; });
  });
}

Knapsack::Knapsack(std::span<const LayerGroup> groups, const OptionOrders& orders, Bytes cap)
    : groups_(groups), allowed_(groups.size()), original_(groups.size()) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t o : orders[g]) {
      const LayerOption& option = groups[g].options[o];
      if (option.restored > cap || (!allowed_[g].empty() && option.time >= allowed_[g].back().time)) continue;
      allowed_[g].push_back(option);
      original_[g].push_back(o);
    }
    if (allowed_[g].empty()) allowed_[g].push_back({});  // of no layers: never taken
    counts_.push_back(groups[g].count);
  }
  hull_.emplace(allowed_);
  for (std::size_t g = 0; g < groups.size(); ++g) smallest_ += counts_[g] * hull_->smallest(g);
}

void Knapsack::add_layer(std::size_t g, const std::vector<std::int64_t>& left, const Limits& limits,
                         Labels& labels) const {
  std::int64_t reserved = 0;
  for (std::size_t other = 0; other < left.size(); ++other) reserved += left[other] * hull_->smallest(other);
  std::vector<Label> next;
  std::vector<ParetoPoint<2>> points;
  std::vector<Taken> choices;
  for (const Label& label : labels.ends)
    for (std::size_t o = 0; o < allowed_[g].size(); ++o) {
      const std::int64_t saved = label.saved + allowed_[g][o].saved.value();
      const std::int64_t time = label.time + allowed_[g][o].time.value();
      if (saved + reserved > limits.capacity) break;  // by increasing kept bytes
      if (time + hull_->bound(left, limits.capacity - saved) > limits.time) continue;
      next.push_back({saved, time, label.taken});
      points.push_back({saved, time});
      choices.push_back({g, original_[g][o], label.taken});
    }
  labels.ends.clear();
  for (const std::size_t i : pareto_front(points)) {
    labels.ends.push_back({next[i].saved, next[i].time, static_cast<std::int32_t>(labels.taken.size())});
    labels.taken.push_back(choices[i]);
  }
}

std::optional<LayerChoice> Knapsack::solve(std::int64_t capacity, std::int64_t limit) const {
  Labels labels{{Label{}}, {}};
  std::vector<std::int64_t> left = counts_;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    while (left[g] > 0) {
      --left[g];
      add_layer(g, left, {capacity, limit}, labels);
    }
  if (labels.ends.empty()) return std::nullopt;
  return read(labels);
}

LayerChoice Knapsack::read(const Labels& labels) const {
  const Label& label = labels.ends.back();  // in increasing order of bytes, so the last is the fastest
  LayerChoice choice;
  choice.time = Picoseconds(label.time);
  choice.saved = Bytes(label.saved);
  for (const LayerGroup& group : groups_) choice.layers.emplace_back(group.options.size(), 0);
  for (std::int32_t t = label.taken; t >= 0; t = labels.taken[static_cast<std::size_t>(t)].before) {
    const Taken& taken = labels.taken[static_cast<std::size_t>(t)];
    ++choice.layers[taken.group][taken.option];
    choice.restored = std::max(choice.restored, groups_[taken.group].options[taken.option].restored);
  }
  return choice;
}

}  // namespace plumbline
