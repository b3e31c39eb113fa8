#include "planner/checkpointing/knapsack.h"

#include <algorithm>

#include "planner/pareto/front.h"

namespace plumbline {

Knapsack::Knapsack(std::span<const LayerGroup> groups, const CappedOptions& options)
    : groups_(groups), options_(&options) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    counts_.push_back(groups[g].count);
    smallest_ += counts_[g] * options.hull->smallest(g);
  }
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

/// Options that some choice within the limits may take, by the relaxation of all other layers.
std::vector<std::size_t> Knapsack::worthwhile(std::size_t g, const Limits& limits) const {
  std::vector<std::int64_t> others = counts_;
  --others[g];
  const Relaxation rest(hull(), others);
  const std::int64_t reserved = smallest_ - hull().smallest(g);
  std::vector<std::size_t> options;
  for (std::size_t o = 0; o < allowed()[g].size(); ++o) {
    const std::int64_t left = limits.capacity - allowed()[g][o].saved.value();
    if (left < reserved) break;  // by increasing kept bytes
    if (allowed()[g][o].time.value() + rest.bound(left) <= limits.time) options.push_back(o);
  }
  return options;
}

void Knapsack::add_layer(std::size_t g, const std::vector<std::size_t>& options, const std::vector<std::int64_t>& left,
                         const Limits& limits, Labels& labels, ChoiceEffort& effort) const {
  const std::int64_t reserved = hull().least_bytes(left);
  const Relaxation rest(hull(), left);
  std::vector<Label> next;
  std::vector<ParetoPoint<2>> points;
  std::vector<Taken> choices;
  effort.spend(labels.ends.size() * options.size());
  for (const Label& label : labels.ends)
    for (const std::size_t o : options) {
      const std::int64_t saved = label.saved + allowed()[g][o].saved.value();
      const std::int64_t time = label.time + allowed()[g][o].time.value();
      if (saved + reserved > limits.capacity) break;  // by increasing kept bytes
      if (time + rest.bound(limits.capacity - saved) > limits.time) continue;
      next.push_back({saved, time, label.taken});
      points.push_back({saved, time});
      choices.push_back({g, allowed()[g][o].original, label.taken});
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
