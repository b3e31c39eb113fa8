#include "planner/checkpointing/layer_chooser.h"

#include <algorithm>
#include <cstdlib>

namespace plumbline {
namespace {

/// With more options under all caps together the effort is limited. A layer whose operators may all be replayed has up
/// to a million of them.
constexpr std::size_t most_options = 5'000;

}  // namespace

LayerChooser::LayerChooser(std::span<const LayerGroup> groups)
    : groups_(groups), own_caps_(std::make_unique<const OptionCaps>(groups)), caps_(own_caps_.get()) {
  prepare();
}

LayerChooser::LayerChooser(std::span<const LayerGroup> groups, const OptionCaps& caps) : groups_(groups), caps_(&caps) {
  prepare();
}

void LayerChooser::prepare() {
  for (const LayerGroup& group : groups_)
    if (group.count > 0) counts_.push_back(group.count);
  is_large_ = caps_->option_count() > most_options;
}

std::optional<std::int64_t> LayerChooser::bound(std::int64_t capacity) const {
  if (capacity < caps_->hull().least_bytes(counts_)) return std::nullopt;
  return caps_->hull().bound(counts_, capacity);
}

Bytes LayerChooser::restored_at(const std::vector<std::size_t>& corners) const {
  Bytes most(0);
  for (std::size_t g = 0; g < caps_->options().size(); ++g)
    most = std::max(most, caps_->options()[g][corners[g]].restored);
  return most;
}

/// The most that a layer restores where the relaxation has a choice that leaves room for it.
Bytes LayerChooser::likely_restored(std::int64_t in_flight, Bytes budget) const {
  std::vector<std::size_t> corners;
  for (std::size_t g = 0; g < caps_->options().size(); ++g) corners.push_back(caps_->hull().first_option(g));
  std::int64_t left = (budget - restored_at(corners)).value() / in_flight - caps_->hull().least_bytes(counts_);
  for (const HullStep& step : caps_->hull().steps()) {
    left -= counts_[step.group] * step.bytes;
    if (left < 0) break;
    corners[step.group] = step.option;
  }
  return restored_at(corners);
}

/// What the relaxation would restore is where the best is likely to be found: that cap first, then all others.
std::vector<const OptionCaps::Cap*> LayerChooser::promising_first(std::int64_t in_flight, Bytes budget) const {
  const Bytes likely = likely_restored(in_flight, budget);
  std::vector<const OptionCaps::Cap*> order;
  for (const OptionCaps::Cap& cap : caps_->caps())
    if (cap.restored() <= budget) order.push_back(&cap);
  const auto distance = [&](const OptionCaps::Cap* cap) {
    if (!is_large_) return std::int64_t{cap->restored() == likely ? 0 : 1};
    return std::abs((cap->restored() - likely).value());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const OptionCaps::Cap* a, const OptionCaps::Cap* b) { return distance(a) < distance(b); });
  return order;
}

ChoiceEffort LayerChooser::effort(EffortLimit limit) const {
  return is_large_ ? ChoiceEffort(limit.steps, limit.labels) : ChoiceEffort();
}

std::optional<LayerChoice> LayerChooser::choose(std::int64_t in_flight, Bytes budget, Picoseconds tolerance,
                                                EffortLimit limit) const {
  std::optional<LayerChoice> best;
  std::vector<Open> open;
  const auto may_win = [&](std::optional<std::int64_t> least) {
    return least && (!best || *least + tolerance.value() < best->time.value());
  };
  ChoiceEffort exchanging = effort(limit);
  for (const OptionCaps::Cap* cap : promising_first(in_flight, budget)) {
    const std::int64_t capacity = (budget - cap->restored()).value() / in_flight;
    if (!may_win(bound(capacity))) continue;
    Knapsack under(groups_, caps_->under(*cap));
    if (!under.fits(capacity)) continue;
    const std::int64_t least = under.bound(capacity);
    if (!may_win(least)) continue;
    open.push_back({std::move(under), capacity, least});
    if (best && exchanging.is_spent()) continue;  // the bound alone says whether it is solved
    const Knapsack::Counted choice = open.back().knapsack.exchanged(capacity, exchanging);
    if (!best || choice.time < best->time) best = open.back().knapsack.read(choice);
  }
  if (is_large_)
    std::stable_sort(open.begin(), open.end(), [](const Open& a, const Open& b) { return a.bound < b.bound; });
  ChoiceEffort solving = effort(limit);
  for (const auto& [under, capacity, least] : open) {
    if (solving.is_spent() || !may_win(least)) continue;
    if (auto choice = under.solve(capacity, best->time.value() - tolerance.value() - 1, solving))
      best = std::move(choice);
  }
  return best;
}

std::optional<Picoseconds> LayerChooser::least_replay(std::int64_t in_flight, Bytes budget) const {
  const std::deque<OptionCaps::Cap>& caps = caps_->caps();
  if (caps.empty() || caps.front().restored() > budget) return std::nullopt;  // what some layer restores at least
  const auto least = bound((budget - caps.front().restored()).value() / in_flight);
  return least ? std::optional(Picoseconds(std::max<std::int64_t>(0, *least))) : std::nullopt;
}

std::optional<Picoseconds> LayerChooser::least_capped_replay(std::int64_t in_flight, Bytes budget) const {
  std::optional<std::int64_t> least;
  for (const OptionCaps::Cap* cap : promising_first(in_flight, budget)) {
    const std::int64_t capacity = (budget - cap->restored()).value() / in_flight;
    const auto of_all = bound(capacity);
    if (!of_all || (least && *of_all >= *least)) continue;
    const Knapsack under(groups_, caps_->under(*cap));
    if (under.fits(capacity)) least = std::min(under.bound(capacity), least.value_or(under.bound(capacity)));
  }
  return least ? std::optional(Picoseconds(std::max<std::int64_t>(0, *least))) : std::nullopt;
}

}  // namespace plumbline
