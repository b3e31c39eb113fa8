#include "core/program/order_makespan.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"
#include "core/program/action_kinds.h"

namespace plumbline {
namespace {

Picoseconds duration(const DryRunStep& step, const StageTimes& t) {
  const auto s = static_cast<std::size_t>(step.stage);
  switch (step.kind) {
    case ActionKind::forward: return t.forward[s];
    case ActionKind::backward_input: return t.backward_input[s];
    case ActionKind::backward_weight: return t.backward_weight[s];
    default: return t.backward.empty() ? t.backward_input[s] + t.backward_weight[s] : t.backward[s];
  }
}

Hop hop_of(const DryRunStep& step, const StageTimes& t) {
  if (step.hop < 0) return {};
  if (t.into_forward.empty()) return {t.latency[static_cast<std::size_t>(step.hop)]};
  return (step.kind == ActionKind::forward ? t.into_forward : t.into_backward)[static_cast<std::size_t>(step.stage)];
}

/// Before any time: the clock of what nothing leads to.
constexpr Picoseconds never(std::numeric_limits<std::int64_t>::min());
Picoseconds later(Picoseconds time, Picoseconds by) { return time == never ? never : time + by; }

/// Finds each stage's first forward and last weight gradients.
class OncePerStep {
 public:
  OncePerStep(const DryRun& run, const StageTimes& times) : times_(times) {
    if (times.first_forward.empty()) return;
    began_.resize(times.forward.size(), false);
    weights_left_.resize(times.forward.size(), 0);
    for (const DryRunStep& step : run.steps)
      if (makes_weight_gradients(step.kind)) ++weights_left_[static_cast<std::size_t>(step.stage)];
  }
  struct Extra {
    Picoseconds longer{0};
    Picoseconds wait{0};      ///< of the rank, after it
    Picoseconds reducing{0};  ///< from its begin
    Picoseconds next{0};      ///< after that, until the rank's next first forward may begin
    bool is_first_forward = false;
  };
  Extra of(const DryRunStep& step) {
    if (began_.empty()) return {};
    const auto s = static_cast<std::size_t>(step.stage);
    if (step.kind == ActionKind::forward) {
      if (began_[s]) return {};
      began_[s] = true;
      const FirstForward& first = times_.first_forward[s];
      return {first.longer, first.wait, Picoseconds(0), first.next, true};
    }
    if (makes_weight_gradients(step.kind) && --weights_left_[s] == 0)
      return {times_.last_weight[s].longer, times_.last_weight[s].wait, times_.last_weight[s].reducing, {}, false};
    return {};
  }

 private:
  const StageTimes& times_;
  std::vector<bool> began_;
  std::vector<std::int64_t> weights_left_;
};

/// Runs the steps from the given clocks of the ranks; `ended(rank, start, end)` is told of each rank's every step.
template <class Ended>
void run_from(const DryRun& run, const StageTimes& times, std::vector<Picoseconds>& clocks, Ended ended) {
  std::vector<Picoseconds> results(static_cast<std::size_t>(run.slots), never);
  OncePerStep once(run, times);
  std::vector<Picoseconds> reduced(clocks.size(), never);
  std::vector<Picoseconds> gathered(clocks.size(), never);
  for (const DryRunStep& step : run.steps) {
    Picoseconds& clock = clocks[static_cast<std::size_t>(step.rank)];
    if (step.input >= 0) {
      const Hop hop = hop_of(step, times);
      clock = later(std::max(clock, later(results[static_cast<std::size_t>(step.input)], hop.transit)), hop.receipt);
    }
    const OncePerStep::Extra extra = once.of(step);
    if (extra.is_first_forward) clock = std::max(clock, gathered[static_cast<std::size_t>(step.rank)]);
    const Picoseconds start = clock;
    if (extra.reducing > Picoseconds(0)) {
      Picoseconds& done = reduced[static_cast<std::size_t>(step.rank)];
      done = std::max(done, clock) + extra.reducing;
    }
    clock = later(clock, duration(step, times) + extra.longer);
    if (step.output >= 0) results[static_cast<std::size_t>(step.output)] = clock;
    clock = later(clock, extra.wait);
    if (extra.is_first_forward) gathered[static_cast<std::size_t>(step.rank)] = later(clock, extra.next);
    ended(step.rank, start, clock);
  }
  for (std::size_t rank = 0; rank < clocks.size(); ++rank) clocks[rank] = std::max(clocks[rank], reduced[rank]);
}

}  // namespace

Picoseconds OrderTiming::makespan() const { return *std::max_element(end.begin(), end.end()); }

namespace {

/// `record(rank, end)` is told of every step.
template <class Record>
OrderTiming timing_of(const DryRun& run, const StageTimes& times, Record record) {
  std::int32_t ranks = 0;
  for (const DryRunStep& step : run.steps) ranks = std::max(ranks, step.rank + 1);
  OrderTiming timing{std::vector(static_cast<std::size_t>(ranks), never),
                     std::vector(static_cast<std::size_t>(ranks), Picoseconds(0))};
  std::copy(times.start.begin(), times.start.end(), timing.end.begin());
  run_from(run, times, timing.end, [&](std::int32_t rank, Picoseconds start, Picoseconds end) {
    Picoseconds& first = timing.start[static_cast<std::size_t>(rank)];
    if (first == never) first = start;
    record(rank, end);
  });
  return timing;
}

}  // namespace

OrderTiming order_timing(const DryRun& run, const StageTimes& times) {
  return timing_of(run, times, [](std::int32_t, Picoseconds) {});
}

RecordedTiming recorded_timing(const DryRun& run, const StageTimes& times) {
  RecordedTiming recorded;
  recorded.timing = timing_of(run, times, [&](std::int32_t rank, Picoseconds end) {
    const auto r = static_cast<std::size_t>(rank);
    if (recorded.ends.size() <= r) recorded.ends.resize(r + 1);
    recorded.ends[r].push_back(end);
  });
  return recorded;
}

}  // namespace plumbline
