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

namespace {

/// Thins labels, sorted by bytes, to `most` that span the whole range: nothing tells yet which of them the layers to
/// come complete best.
void keep_evenly(std::vector<std::size_t>& front, std::size_t most) {
  if (front.size() <= most) return;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(front[i * (front.size() - 1) / (most - 1)]);
  front = std::move(kept);
}

}  // namespace

std::size_t Knapsack::option_count() const {
  std::size_t count = 0;
  for (const std::vector<LayerOption>& options : allowed_) count += options.size();
  return count;
}

/// Options that some choice within the limits may take, by the relaxation of all other layers.
std::vector<std::size_t> Knapsack::worthwhile(std::size_t g, const Limits& limits) const {
  std::vector<std::int64_t> others = counts_;
  --others[g];
  const Relaxation rest(*hull_, others);
  const std::int64_t reserved = smallest_ - hull_->smallest(g);
  std::vector<std::size_t> options;
  for (std::size_t o = 0; o < allowed_[g].size(); ++o) {
    const std::int64_t left = limits.capacity - allowed_[g][o].saved.value();
    if (left < reserved) break;  // by increasing kept bytes
    if (allowed_[g][o].time.value() + rest.bound(left) <= limits.time) options.push_back(o);
  }
  return options;
}

void Knapsack::add_layer(std::size_t g, const std::vector<std::size_t>& options, const std::vector<std::int64_t>& left,
                         const Limits& limits, Labels& labels, ChoiceEffort& effort) const {
  const std::int64_t reserved = hull_->least_bytes(left);
  const Relaxation rest(*hull_, left);
  std::vector<Label> next;
  std::vector<ParetoPoint<2>> points;
  std::vector<Taken> choices;
  effort.spend(labels.ends.size() * options.size());
  for (const Label& label : labels.ends)
    for (const std::size_t o : options) {
      const std::int64_t saved = label.saved + allowed_[g][o].saved.value();
      const std::int64_t time = label.time + allowed_[g][o].time.value();
      if (saved + reserved > limits.capacity) break;  // by increasing kept bytes
      if (time + rest.bound(limits.capacity - saved) > limits.time) continue;
      next.push_back({saved, time, label.taken});
      points.push_back({saved, time});
      choices.push_back({g, original_[g][o], label.taken});
    }
  labels.ends.clear();
  std::vector<std::size_t> front = pareto_front(points);
  keep_evenly(front, effort.labels());
  for (const std::size_t i : front) {
    labels.ends.push_back({next[i].saved, next[i].time, static_cast<std::int32_t>(labels.taken.size())});
    labels.taken.push_back(choices[i]);
  }
}

std::optional<LayerChoice> Knapsack::solve(std::int64_t capacity, std::int64_t limit, ChoiceEffort& effort) const {
  Labels labels{{Label{}}, {}};
  std::vector<std::int64_t> left = counts_;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (left[g] == 0) continue;
    const std::vector<std::size_t> options = worthwhile(g, {capacity, limit});
    if (options.empty()) return std::nullopt;
    while (left[g] > 0) {
      --left[g];
      add_layer(g, options, left, {capacity, limit}, labels, effort);
      if (labels.ends.empty()) return std::nullopt;
    }
  }
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
