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

/// Makes the exchange, or pair of exchanges, that saves most time within `left` bytes; false when none saves any.
bool exchange_best(Counts& counts, std::int64_t& left, const std::vector<std::vector<LayerOption>>& options) {
  const std::vector<Exchange> all = exchanges_of(counts, options);
  const Exchange* first = nullptr;
  const Exchange* second = nullptr;
  std::int64_t best = 0;
  for (std::size_t a = 0; a < all.size(); ++a) {
    if (all[a].bytes <= left && all[a].time < best) {
      best = all[a].time;
      first = &all[a];
      second = nullptr;
    }
    for (std::size_t b = a; b < all.size(); ++b) {
      if (all[a].bytes + all[b].bytes > left || all[a].time + all[b].time >= best) continue;
      const bool same = all[a].group == all[b].group && all[a].from == all[b].from;
      if (same && counts[all[a].group][all[a].from] < 2) continue;
      best = all[a].time + all[b].time;
      first = &all[a];
      second = &all[b];
    }
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

LayerChoice Knapsack::exchanged(std::int64_t capacity) const {
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
  while (exchange_best(counts, left, allowed_)) {
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
