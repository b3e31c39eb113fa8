#include "planner/checkpointing/layer_chooser.h"

#include <algorithm>

namespace plumbline {
namespace {

std::vector<std::vector<LayerOption>> options_of(std::span<const LayerGroup> groups) {
  std::vector<std::vector<LayerOption>> options;
  for (const LayerGroup& group : groups)
    if (group.count > 0) options.emplace_back(group.options.begin(), group.options.end());
  return options;
}

}  // namespace

LayerChooser::LayerChooser(std::span<const LayerGroup> groups)
    : groups_(groups), orders_(sorted_options(groups)), options_(options_of(groups)), hull_(options_) {
  for (const LayerGroup& group : groups)
    if (group.count > 0) counts_.push_back(group.count);
  for (const Bytes cap : restored_caps(groups))
    if (has_options(groups, cap)) caps_.push_back({cap, std::nullopt});
}

std::optional<std::int64_t> LayerChooser::bound(std::int64_t capacity) const {
  if (capacity < hull_.least_bytes(counts_)) return std::nullopt;
  return hull_.bound(counts_, capacity);
}

Bytes LayerChooser::restored_at(const std::vector<std::size_t>& corners) const {
  Bytes most(0);
  for (std::size_t g = 0; g < options_.size(); ++g) most = std::max(most, options_[g][corners[g]].restored);
  return most;
}

/// The most that a layer restores where the relaxation has a choice that leaves room for it.
Bytes LayerChooser::likely_restored(std::int64_t in_flight, Bytes budget) const {
  std::vector<std::size_t> corners;
  for (std::size_t g = 0; g < options_.size(); ++g) corners.push_back(hull_.first_option(g));
  std::int64_t left = (budget - restored_at(corners)).value() / in_flight - hull_.least_bytes(counts_);
  for (const HullStep& step : hull_.steps()) {
    left -= counts_[step.group] * step.bytes;
    if (left < 0) break;
    corners[step.group] = step.option;
  }
  return restored_at(corners);
}

Knapsack& LayerChooser::knapsack(Cap& cap) {
  if (!cap.knapsack) cap.knapsack.emplace(groups_, orders_, cap.restored);
  return *cap.knapsack;
}

std::optional<LayerChoice> LayerChooser::choose(std::int64_t in_flight, Bytes budget, Picoseconds tolerance) {
  struct Open {
    const Knapsack* knapsack;
    std::int64_t capacity;
  };
  std::optional<LayerChoice> best;
  std::vector<Open> open;
  const auto may_win = [&](std::optional<std::int64_t> least) {
    return least && (!best || *least + tolerance.value() < best->time.value());
  };
  const auto attempt = [&](Cap& cap) {
    const std::int64_t capacity = (budget - cap.restored).value() / in_flight;
    if (cap.restored > budget || !may_win(bound(capacity))) return;
    const Knapsack& under = knapsack(cap);
    if (!under.fits(capacity) || !may_win(under.bound(capacity))) return;
    LayerChoice choice = under.exchanged(capacity);
    if (!best || choice.time < best->time) best = std::move(choice);
    open.push_back({&under, capacity});
  };
  // What the relaxation would restore is where the best is likely to be found; all other caps are held against it.
  const Bytes likely = likely_restored(in_flight, budget);
  for (const bool is_likely : {true, false})
    for (Cap& cap : caps_)
      if ((cap.restored == likely) == is_likely) attempt(cap);
  for (const auto& [under, capacity] : open) {
    if (!may_win(under->bound(capacity))) continue;
    if (auto choice = under->solve(capacity, best->time.value() - tolerance.value() - 1)) best = std::move(choice);
  }
  return best;
}

std::optional<Picoseconds> LayerChooser::least_replay(std::int64_t in_flight, Bytes budget) const {
  if (caps_.empty() || caps_.front().restored > budget) return std::nullopt;  // what some layer restores at least
  const auto least = bound((budget - caps_.front().restored).value() / in_flight);
  return least ? std::optional(Picoseconds(std::max<std::int64_t>(0, *least))) : std::nullopt;
}

}  // namespace plumbline
