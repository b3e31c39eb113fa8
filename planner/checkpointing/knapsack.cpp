#include "planner/checkpointing/knapsack.h"

#include <algorithm>

namespace plumbline {

Knapsack::Knapsack(std::span<const LayerGroup> groups, const CappedOptions& options)
    : groups_(groups), options_(&options) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    counts_.push_back(groups[g].count);
    smallest_ += counts_[g] * options.hull->smallest(g);
  }
}

namespace {

/// One more layer behind a label.
struct Step {
  std::int64_t saved = 0;
  std::int64_t time = 0;
  std::int32_t before = -1;  ///< the label's last choice
  std::size_t option = 0;
};
/// By increasing bytes; none dominates another.
using Front = std::vector<Step>;

/// Thins labels, sorted by bytes, to `most` that span the whole range: nothing tells yet which of them the layers to
/// come complete best.
void keep_evenly(Front& front, std::size_t most) {
  if (front.size() <= most) return;
  Front kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(front[i * (front.size() - 1) / (most - 1)]);
  front = std::move(kept);
}

/// Fronts one after another, in one piece of memory: layers have thousands of steps, again and again.
struct Fronts {
  std::vector<Step> steps;
  std::vector<std::size_t> begins{0};  ///< of each front, and where the last one ends

  [[nodiscard]] std::size_t count() const { return begins.size() - 1; }
  /// Ends the front that was being written.
  void end_front() { begins.push_back(steps.size()); }
  /// To the front that is being written, unless it dominates `step`.
  void add(const Step& step) {
    if (steps.size() == begins.back() || step.time < steps.back().time) steps.push_back(step);
  }
  void clear() {
    steps.clear();
    begins.resize(1);
  }
};

/// Writes fronts `a` and `a + 1` as one; of equal steps the earlier front's stays.
void merge_pair(const Fronts& fronts, std::size_t a, Fronts& into) {
  const auto at = [&](std::size_t front) {
    return fronts.steps.begin() + static_cast<std::ptrdiff_t>(fronts.begins[front]);
  };
  auto earlier = at(a);
  auto later = at(a + 1);
  while (earlier != at(a + 1) || later != at(a + 2)) {
    const bool takes_later =
        earlier == at(a + 1) ||
        (later != at(a + 2) && std::pair(later->saved, later->time) < std::pair(earlier->saved, earlier->time));
    into.add(takes_later ? *later++ : *earlier++);
  }
  into.end_front();
}

/// All fronts as one, merged in pairs; of equal steps the earliest front's stays.
Front merged(Fronts fronts) {
  Fronts halves;
  halves.steps.reserve(fronts.steps.size());
  while (fronts.count() > 1) {
    halves.clear();
    for (std::size_t i = 0; i + 1 < fronts.count(); i += 2) merge_pair(fronts, i, halves);
    if (fronts.count() % 2 == 1) {
      const auto last = fronts.steps.begin() + static_cast<std::ptrdiff_t>(fronts.begins[fronts.count() - 1]);
      halves.steps.insert(halves.steps.end(), last, fronts.steps.end());
      halves.end_front();
    }
    std::swap(fronts, halves);
  }
  return std::move(fronts.steps);
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
  effort.spend(labels.ends.size() * options.size());
  // Steps that the relaxation rejects dominate only steps that it rejects too: most are left out before the merge, by a
  // bound that is quickly had, the others behind it.
  const Relaxation rest(hull(), left);
  Relaxation::Falling of_label(rest);
  Fronts fronts;
  for (const Label& label : labels.ends) {  // by increasing bytes
    if (!options.empty())
      (void)of_label.below_bound(limits.capacity - label.saved - allowed()[g][options.front()].saved.value());
    Relaxation::Falling of_step = of_label;
    for (const std::size_t o : options) {
      const std::int64_t saved = label.saved + allowed()[g][o].saved.value();
      const std::int64_t time = label.time + allowed()[g][o].time.value();
      if (saved + reserved > limits.capacity) break;  // by increasing kept bytes
      if (time + of_step.below_bound(limits.capacity - saved) <= limits.time) fronts.add({saved, time, label.taken, o});
    }
    fronts.end_front();
  }
  Front front = merged(std::move(fronts));
  std::erase_if(front,
                [&](const Step& step) { return step.time + rest.bound(limits.capacity - step.saved) > limits.time; });
  keep_evenly(front, effort.labels());
  labels.ends.clear();
  for (const Step& step : front) {
    labels.ends.push_back({step.saved, step.time, static_cast<std::int32_t>(labels.taken.size())});
    labels.taken.push_back({g, allowed()[g][step.option].original, step.before});
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
