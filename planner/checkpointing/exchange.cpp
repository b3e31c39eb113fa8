// The fast choice of a knapsack: convex corners, then exchanges.

#include <algorithm>

#include "planner/checkpointing/knapsack.h"

namespace plumbline {
namespace {

/// How many layers of each group take each of the options that a cap allows.
using Counts = std::vector<std::vector<std::int64_t>>;

using OptionsOfGroups = std::vector<std::vector<CappedOption>>;

/// An option that layers of a group take and one of them may leave for another. Options are by increasing kept
/// bytes and decreasing time, so what is reached with the most bytes saves most.
struct Origin {
  std::span<const CappedOption> options;
  std::size_t group = 0;
  std::size_t from = 0;
  bool leaves_twice = false;  ///< two layers cannot both leave an option that only one of them takes

  [[nodiscard]] std::int64_t bytes(std::size_t to) const { return (options[to].saved - options[from].saved).value(); }
  [[nodiscard]] std::int64_t time(std::size_t to) const { return (options[to].time - options[from].time).value(); }
};

std::vector<Origin> origins_of(const Counts& counts, const OptionsOfGroups& options) {
  std::vector<Origin> origins;
  for (std::size_t g = 0; g < counts.size(); ++g)
    for (std::size_t from = 0; from < counts[g].size(); ++from)
      if (counts[g][from] > 0) origins.push_back({options[g], g, from, counts[g][from] >= 2});
  return origins;
}

/// One layer takes another option.
struct Exchange {
  const Origin* origin = nullptr;
  std::size_t to = 0;
  [[nodiscard]] std::int64_t bytes() const { return origin->bytes(to); }
  [[nodiscard]] std::int64_t time() const { return origin->time(to); }
};

/// What goes best with an exchange, for exchanges of one origin by increasing bytes.
class Partners {
 public:
  Partners(const std::vector<Origin>& origins, const Origin& own) : origins_(origins), own_(own) {
    for (const Origin& origin : origins) ends_.push_back(origin.options.size());
  }

  /// Within `bytes`, which do not grow from call to call: of equal times the one of fewest bytes.
  [[nodiscard]] std::optional<Exchange> best(std::int64_t bytes) {
    std::optional<Exchange> best;
    for (std::size_t o = 0; o < origins_.size(); ++o) {
      const Origin& origin = origins_[o];
      std::size_t& end = ends_[o];
      while (end > 0 && origin.bytes(end - 1) > bytes) --end;
      const std::size_t reached = end > 0 && end - 1 == origin.from ? end - 1 : end;
      if (reached == 0 || (&origin == &own_ && !origin.leaves_twice)) continue;
      const Exchange last{&origin, reached - 1};
      if (!best || std::pair(last.time(), last.bytes()) < std::pair(best->time(), best->bytes())) best = last;
    }
    return best;
  }

 private:
  const std::vector<Origin>& origins_;
  const Origin& own_;
  std::vector<std::size_t> ends_;  ///< by origin, behind the last option within the bytes
};

/// Makes the exchange, or pair of exchanges, that saves most time within `left` bytes; false when none saves any.
bool exchange_best(Counts& counts, std::int64_t& left, const OptionsOfGroups& options, ChoiceEffort& effort) {
  const std::vector<Origin> origins = origins_of(counts, options);
  std::size_t exchanges = 0;
  std::int64_t most_saved = 0;
  for (const Origin& origin : origins) {
    exchanges += origin.options.size() - 1;
    most_saved = std::min(most_saved, origin.time(origin.options.size() - 1));
  }
  effort.spend(16 * exchanges);  // as if sorted and searched
  std::optional<Exchange> first;
  std::optional<Exchange> second;
  std::int64_t best = 0;
  for (const Origin& origin : origins) {
    Partners partners(origins, origin);
    for (std::size_t to = 0; to < origin.options.size(); ++to) {
      if (to == origin.from) continue;
      const Exchange a{&origin, to};
      if (a.bytes() <= left && a.time() < best) {
        best = a.time();
        first = a;
        second.reset();
      }
      if (a.time() + most_saved >= best) continue;
      const auto b = partners.best(left - a.bytes());
      if (!b || a.time() + b->time() >= best) continue;
      best = a.time() + b->time();
      first = a;
      second = b;
    }
  }
  for (const std::optional<Exchange>& made : {first, second}) {
    if (!made) continue;
    --counts[made->origin->group][made->origin->from];
    ++counts[made->origin->group][made->to];
    left -= made->bytes();
  }
  return first.has_value();
}

}  // namespace

Knapsack::Counted Knapsack::exchanged(std::int64_t capacity, ChoiceEffort& effort) const {
  Counted choice;
  Counts& counts = choice.counts;
  std::vector<std::size_t> corner;
  std::int64_t left = capacity - smallest_;
  for (std::size_t g = 0; g < allowed().size(); ++g) {
    counts.emplace_back(allowed()[g].size(), 0);
    corner.push_back(hull().first_option(g));
    counts[g][corner[g]] = counts_[g];
  }
  // A layer takes a step only after the steps before it, which come earlier in this order.
  for (const HullStep& step : hull().steps()) {
    const std::size_t from = corner[step.group];
    const std::int64_t whole = std::min(counts[step.group][from], left / step.bytes);
    counts[step.group][from] -= whole;
    counts[step.group][step.option] += whole;
    corner[step.group] = step.option;
    left -= whole * step.bytes;
  }
  while (exchange_best(counts, left, allowed(), effort)) {
  }
  for (std::size_t g = 0; g < counts.size(); ++g)
    for (std::size_t o = 0; o < counts[g].size(); ++o)
      if (counts[g][o] > 0) choice.time += counts[g][o] * allowed()[g][o].time;
  return choice;
}

LayerChoice Knapsack::read(const Counted& counted) const {
  const Counts& counts = counted.counts;
  LayerChoice choice;
  choice.time = counted.time;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    choice.layers.emplace_back(groups_[g].options.size(), 0);
    for (std::size_t o = 0; o < counts[g].size(); ++o) {
      if (counts[g][o] == 0) continue;
      const CappedOption& option = allowed()[g][o];
      choice.layers[g][option.original] += counts[g][o];
      choice.saved += counts[g][o] * option.saved;
      choice.restored = std::max(choice.restored, groups_[g].options[option.original].restored);
    }
  }
  return choice;
}

}  // namespace plumbline
