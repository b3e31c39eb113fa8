// The fast choice of a knapsack: convex corners, then exchanges.

#include <algorithm>

#include "planner/checkpointing/knapsack.h"

namespace plumbline {
namespace {

/// How many layers of each group take each of the options that a cap allows.
using Counts = std::vector<std::vector<std::int64_t>>;

/// One layer of a group takes another option.
struct Exchange {
  std::size_t group = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  std::int64_t bytes = 0;  ///< more
  std::int64_t time = 0;   ///< more
};

std::vector<Exchange> exchanges_of(const Counts& counts, const std::vector<std::vector<LayerOption>>& options) {
  std::vector<Exchange> all;
  for (std::size_t g = 0; g < counts.size(); ++g)
    for (std::size_t from = 0; from < counts[g].size(); ++from)
      for (std::size_t to = 0; to < counts[g].size() && counts[g][from] > 0; ++to)
        if (from != to)
          all.push_back({g, from, to, (options[g][to].saved - options[g][from].saved).value(),
                         (options[g][to].time - options[g][from].time).value()});
  return all;
}

/// Of the exchanges up to a number of bytes, the one that saves most, and the best of another origin beside it: two
/// layers cannot both leave an option that only one of them takes.
struct BestUpTo {
  std::size_t first = 0;
  std::optional<std::size_t> other = {};
};

class Pairs {
 public:
  Pairs(const std::vector<Exchange>& all, const Counts& counts) : all_(all), counts_(counts) {
    for (std::size_t i = 0; i < all.size(); ++i) by_bytes_.push_back(i);
    std::stable_sort(by_bytes_.begin(), by_bytes_.end(),
                     [&](std::size_t a, std::size_t b) { return all[a].bytes < all[b].bytes; });
    for (const std::size_t i : by_bytes_) {
      BestUpTo best = best_.empty() ? BestUpTo{i} : best_.back();
      if (all[i].time < all[best.first].time) {
        if (!same_origin(i, best.first)) best.other = best.first;
        best.first = i;
      } else if (!same_origin(i, best.first) && (!best.other || all[i].time < all[*best.other].time)) {
        best.other = i;
      }
      best_.push_back(best);
    }
  }

  /// What goes best with exchange `a` within `bytes` of its own.
  [[nodiscard]] std::optional<std::size_t> partner(std::size_t a, std::int64_t bytes) const {
    const auto end = std::upper_bound(by_bytes_.begin(), by_bytes_.end(), bytes,
                                      [&](std::int64_t most, std::size_t i) { return most < all_[i].bytes; });
    if (end == by_bytes_.begin()) return std::nullopt;
    const BestUpTo& best = best_[static_cast<std::size_t>(end - by_bytes_.begin()) - 1];
    const bool leaves_twice = counts_[all_[a].group][all_[a].from] >= 2;
    return leaves_twice || !same_origin(a, best.first) ? best.first : best.other;
  }

 private:
  [[nodiscard]] bool same_origin(std::size_t a, std::size_t b) const {
    return all_[a].group == all_[b].group && all_[a].from == all_[b].from;
  }
  const std::vector<Exchange>& all_;
  const Counts& counts_;
  std::vector<std::size_t> by_bytes_;
  std::vector<BestUpTo> best_;  ///< by place in `by_bytes_`
};

/// Makes the exchange, or pair of exchanges, that saves most time within `left` bytes; false when none saves any.
bool exchange_best(Counts& counts, std::int64_t& left, const std::vector<std::vector<LayerOption>>& options,
                   ChoiceEffort& effort) {
  const std::vector<Exchange> all = exchanges_of(counts, options);
  const Pairs pairs(all, counts);
  effort.spend(16 * all.size());  // sorted and searched
  const Exchange* first = nullptr;
  const Exchange* second = nullptr;
  std::int64_t best = 0;
  for (std::size_t a = 0; a < all.size(); ++a) {
    if (all[a].bytes <= left && all[a].time < best) {
      best = all[a].time;
      first = &all[a];
      second = nullptr;
    }
    const auto b = pairs.partner(a, left - all[a].bytes);
    if (!b || all[a].time + all[*b].time >= best) continue;
    best = all[a].time + all[*b].time;
    first = &all[a];
    second = &all[*b];
  }
  for (const Exchange* made : {first, second}) {
    if (made == nullptr) continue;
    --counts[made->group][made->from];
    ++counts[made->group][made->to];
    left -= made->bytes;
  }
  return first != nullptr;
}

}  // namespace

LayerChoice Knapsack::exchanged(std::int64_t capacity, ChoiceEffort& effort) const {
  Counts counts;
  std::vector<std::size_t> corner;
  std::int64_t left = capacity - smallest_;
  for (std::size_t g = 0; g < allowed_.size(); ++g) {
    counts.emplace_back(allowed_[g].size(), 0);
    corner.push_back(hull_->first_option(g));
    counts[g][corner[g]] = counts_[g];
  }
  // A layer takes a step only after the steps before it, which come earlier in this order.
  for (const HullStep& step : hull_->steps()) {
    const std::size_t from = corner[step.group];
    const std::int64_t whole = std::min(counts[step.group][from], left / step.bytes);
    counts[step.group][from] -= whole;
    counts[step.group][step.option] += whole;
    corner[step.group] = step.option;
    left -= whole * step.bytes;
  }
  while (exchange_best(counts, left, allowed_, effort)) {
  }
  LayerChoice choice;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    choice.layers.emplace_back(groups_[g].options.size(), 0);
    for (std::size_t o = 0; o < counts[g].size(); ++o) {
      if (counts[g][o] == 0) continue;
      const LayerOption& option = allowed_[g][o];
      choice.layers[g][original_[g][o]] += counts[g][o];
      choice.saved += counts[g][o] * option.saved;
      choice.time += counts[g][o] * option.time;
      choice.restored = std::max(choice.restored, option.restored);
    }
  }
  return choice;
}

}  // namespace plumbline
