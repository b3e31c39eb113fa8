#include "planner/partition/partition.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::int64_t impossible = StagePrices::no_time;

/// Best values of giving layers first.. to stages s.., and the partition read off it. `join(t, rest)` is monotone in
/// both, so suffixes are optimal by themselves.
template <class Join>
class Suffixes {
 public:
  Suffixes(const StagePrices& prices, std::int64_t cap, Join join) : prices_(prices), cap_(cap), join_(join) {
    const std::int32_t layers = prices.layers();
    const std::int32_t stages = prices.stages();
    best_.assign(slot(stages + 1, 0), impossible);
    best_[slot(stages, layers)] = 0;
    for (std::int32_t s = stages - 1; s >= 0; --s)
      for (std::int32_t first = s; first < layers - (stages - 1 - s); ++first)
        best_[slot(s, first)] = least(s, first, layers - (stages - 1 - s));
  }

  [[nodiscard]] std::int64_t best(std::int32_t stage = 0, std::int32_t first = 0) const {
    return best_[slot(stage, first)];
  }
  /// Of the partitions whose every suffix is worth `allowed` at most, the lexicographically smallest.
  template <class Allowed>
  [[nodiscard]] std::vector<std::int32_t> smallest(Allowed allowed) const {
    std::vector<std::int32_t> layers;
    std::int32_t first = 0;
    for (std::int32_t s = 0; s < prices_.stages(); ++s) {
      std::int32_t last = first + 1;
      const std::int64_t* const times = prices_.totals(s, first);
      while (last <= prices_.layers() && value(times[last], best(s + 1, last)) > allowed(s, first)) ++last;
      check(last <= prices_.layers(), "a reachable suffix has a first stage");
      layers.push_back(last - first);
      first = last;
    }
    return layers;
  }

 private:
  [[nodiscard]] std::size_t slot(std::int32_t stage, std::int32_t first) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(prices_.layers() + 1) +
           static_cast<std::size_t>(first);
  }
  [[nodiscard]] std::int64_t value(std::int64_t time, std::int64_t rest) const {
    return time > cap_ ? impossible : std::min(impossible, join_(time, rest));
  }
  /// Over the ends of stage s, in plain arrays: this loop is the cost of a partition.
  [[nodiscard]] std::int64_t least(std::int32_t s, std::int32_t first, std::int32_t furthest) const {
    const std::int64_t* const times = prices_.totals(s, first);
    const std::int64_t* const rests = best_.data() + slot(s + 1, 0);
    std::int64_t found = impossible;
    for (std::int32_t last = first + 1; last <= furthest; ++last)
      found = std::min(found, value(times[last], rests[last]));
    return found;
  }

  const StagePrices& prices_;
  std::int64_t cap_;
  Join join_;
  std::vector<std::int64_t> best_;
};

constexpr auto larger = [](std::int64_t time, std::int64_t rest) { return std::max(time, rest); };
constexpr auto both = [](std::int64_t time, std::int64_t rest) { return time + rest; };

/// Distinct stage times above `above` and of at most `most`, in increasing order.
std::vector<std::int64_t> thresholds(const StagePrices& prices, std::int64_t above, std::int64_t most) {
  std::vector<std::int64_t> times;
  for (std::int32_t s = 0; s < prices.stages(); ++s)
    for (std::int32_t first = 0; first < prices.layers(); ++first)
      for (std::int32_t last = first + 1; last <= prices.layers(); ++last)
        if (const std::int64_t time = prices.totals(s, first)[last]; time > above && time <= most)
          times.push_back(time);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

}  // namespace

std::optional<StagePartition> min_max_partition(const StagePrices& prices) {
  const Suffixes suffixes(prices, impossible, larger);
  if (suffixes.best() == impossible) return std::nullopt;
  // A later stage may be slower than its suffix needs, as long as the slowest of all is not exceeded.
  const auto allowed = [&](std::int32_t, std::int32_t) { return suffixes.best(); };
  return StagePartition{suffixes.smallest(allowed), Picoseconds(suffixes.best())};
}

std::optional<StagePartition> sum_and_max_partition(const StagePrices& prices, std::int64_t micro_batches) {
  const auto fastest = min_max_partition(prices);
  if (!fastest) return std::nullopt;
  const std::int64_t m = micro_batches;
  const auto under = [&](std::int64_t cap) {
    const Suffixes sums(prices, cap, both);
    const auto optimal = [&](std::int32_t s, std::int32_t first) { return sums.best(s, first); };
    return StagePartition{sums.smallest(optimal), Picoseconds(sums.best() + (m - 1) * cap)};
  };
  StagePartition found = under(fastest->value.value());
  const std::int64_t least_sum = Suffixes(prices, impossible, both).best();
  const auto can_win = [&](std::int64_t cap) { return least_sum + (m - 1) * cap <= found.value.value(); };
  const std::int64_t most = m > 1 ? (found.value.value() - least_sum) / (m - 1) : impossible - 1;
  for (const std::int64_t cap : thresholds(prices, fastest->value.value(), most)) {
    if (!can_win(cap)) break;
    StagePartition other = under(cap);
    if (other.value < found.value || (other.value == found.value && other.layers < found.layers))
      found = std::move(other);
  }
  return found;
}

}  // namespace plumbline
