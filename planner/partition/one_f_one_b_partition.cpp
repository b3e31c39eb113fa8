#include <algorithm>

#include "core/base/errors.h"
#include "core/cost/pipeline_time.h"
#include "planner/partition/partition.h"

namespace plumbline {
namespace {

/// Depth-first over layers per stage, smallest first, so that of equal partitions the first found stays.
class Branching {
 public:
  Branching(const StagePrices& prices, std::span<const Picoseconds> latency, std::int64_t m,
            std::int64_t most_evaluated)
      : prices_(prices),
        latency_(latency.begin(), latency.end()),
        m_(m),
        most_evaluated_(most_evaluated),
        forward_(static_cast<std::size_t>(prices.stages())),
        backward_(forward_.size()),
        layers_(forward_.size()) {
    bound_suffixes();
  }

  std::optional<MakespanPartition> run() {
    const auto start = sum_and_max_partition(prices_, m_);
    if (!start) return std::nullopt;
    result_.partition = *start;
    result_.partition.value = makespan_of(start->layers);
    descend(0, 0, 0, 0);
    return result_;
  }

 private:
  [[nodiscard]] std::size_t slot(std::int32_t stage, std::int32_t first) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(prices_.layers() + 1) +
           static_cast<std::size_t>(first);
  }
  [[nodiscard]] std::int64_t hop(std::int32_t s) const {
    return s + 1 < prices_.stages() ? latency_[static_cast<std::size_t>(s)].value() : 0;
  }
  [[nodiscard]] bool hopeless(std::int64_t bound) const {
    const std::int64_t best = result_.partition.value.value();
    return ours_ ? bound >= best : bound > best;
  }
  void bound_suffixes();
  void descend(std::int32_t s, std::int32_t first, std::int64_t before, std::int64_t slowest);
  Picoseconds makespan_of(const std::vector<std::int32_t>& layers);
  void leaf();
  [[nodiscard]] std::int64_t in_flight(std::int32_t s) const {
    return std::min<std::int64_t>(m_, prices_.stages() - s);
  }
  /// What a stage adds to the time of one micro-batch through all stages and back. After its first backward come m - 1
  /// more and all forwards but the K that were in flight, and then the drain; the mirror image holds before its last
  /// forward.
  [[nodiscard]] std::int64_t waiting(std::int32_t s, const StagePrice& price) const {
    const std::int64_t f = price.forward.value();
    const std::int64_t b = price.backward.value();
    const std::int64_t rest = m_ - in_flight(s);
    return std::max((m_ - 1) * b + rest * f, (m_ - 1) * f + rest * b);
  }

  const StagePrices& prices_;
  std::vector<Picoseconds> latency_;
  std::int64_t m_;
  std::int64_t most_evaluated_;
  std::int64_t evaluated_ = 0;
  std::vector<std::int64_t> busiest_;  ///< least over partitions of a suffix: its busiest stage with fill and drain
  std::vector<std::int64_t> sum_;      ///< least sum of a suffix
  std::vector<std::int64_t> waiting_;  ///< least over partitions of a suffix: its largest `waiting`
  std::vector<Picoseconds> forward_;
  std::vector<Picoseconds> backward_;
  std::vector<std::int32_t> layers_;
  MakespanPartition result_;
  bool ours_ = false;  ///< whether the best partition was found here, so that an equal one is no better
};

void Branching::bound_suffixes() {
  const std::int32_t layers = prices_.layers();
  constexpr std::int64_t impossible = Picoseconds::largest().value();
  busiest_.assign(slot(prices_.stages() + 1, 0), impossible);
  sum_ = waiting_ = busiest_;
  const std::size_t end = slot(prices_.stages(), layers);
  busiest_[end] = sum_[end] = waiting_[end] = 0;
  for (std::int32_t s = prices_.stages() - 1; s >= 0; --s)
    for (std::int32_t first = s; first < layers; ++first)
      for (std::int32_t last = first + 1; last <= layers; ++last) {
        if (!prices_.fits(s, first, last) || sum_[slot(s + 1, last)] == impossible) continue;
        const StagePrice& price = prices_.at(s, first, last);
        const std::int64_t t = price.total().value();
        const std::size_t here = slot(s, first);
        const std::size_t rest = slot(s + 1, last);
        busiest_[here] = std::min(busiest_[here], std::max(m_ * t, t + 2 * hop(s) + busiest_[rest]));
        sum_[here] = std::min(sum_[here], t + 2 * hop(s) + sum_[rest]);
        waiting_[here] = std::min(waiting_[here], std::max(waiting(s, price), waiting_[rest]));
      }
}

Picoseconds Branching::makespan_of(const std::vector<std::int32_t>& layers) {
  std::int32_t first = 0;
  for (std::int32_t s = 0; s < prices_.stages(); ++s) {
    const StagePrice& price = prices_.at(s, first, first + layers[static_cast<std::size_t>(s)]);
    forward_[static_cast<std::size_t>(s)] = price.forward;
    backward_[static_cast<std::size_t>(s)] = price.backward;
    first += layers[static_cast<std::size_t>(s)];
  }
  return one_f_one_b_makespan({forward_, backward_, latency_}, m_);
}

void Branching::leaf() {
  ++evaluated_;
  const Picoseconds value = makespan_of(layers_);
  if (value > result_.partition.value || (ours_ && value == result_.partition.value)) return;
  result_.partition = {layers_, value};
  ours_ = true;
}

/// `before`: of earlier stages, forward, backward and both ways of their links; `slowest`: their largest `waiting`.
void Branching::descend(std::int32_t s, std::int32_t first, std::int64_t before, std::int64_t slowest) {
  if (s == prices_.stages()) return leaf();
  for (std::int32_t last = first + 1; last <= prices_.layers(); ++last) {
    if (!prices_.fits(s, first, last) || sum_[slot(s + 1, last)] == Picoseconds::largest().value()) continue;
    if (evaluated_ >= most_evaluated_) {
      result_.proven = false;
      return;
    }
    const StagePrice& price = prices_.at(s, first, last);
    const std::int64_t t = price.total().value();
    const std::int64_t after = before + t + 2 * hop(s);
    if (hopeless(before + m_ * t) || hopeless(after + busiest_[slot(s + 1, last)])) continue;
    const std::int64_t waits = std::max(slowest, waiting(s, price));
    const std::size_t rest = slot(s + 1, last);
    if (hopeless(after + sum_[rest] + std::max(waits, waiting_[rest]))) continue;
    layers_[static_cast<std::size_t>(s)] = last - first;
    descend(s + 1, last, after, waits);
  }
}

}  // namespace

std::optional<MakespanPartition> one_f_one_b_partition(const StagePrices& prices, std::span<const Picoseconds> latency,
                                                       std::int64_t micro_batches, std::int64_t most_evaluated) {
  check(static_cast<std::int32_t>(latency.size()) + 1 == prices.stages(), "one latency per link");
  return Branching(prices, latency, micro_batches, most_evaluated).run();
}

}  // namespace plumbline
