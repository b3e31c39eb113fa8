#include "core/program/steady_order.h"

#include "core/program/order_memo.h"
#include "core/program/repeating_order.h"
#include "core/program/steady_periods.h"

namespace plumbline {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The lists of the ranks with their cuts; what follows a cut refers to results before it.
std::vector<PeriodicRank> periodic_ranks(const CheckedOrder& order, std::int32_t from, std::int32_t cut,
                                         std::int32_t period) {
  std::vector<PeriodicRank> ranks(order.schedule.ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const RankOrder& actions = order.schedule.ranks[r];
    for (std::int64_t i = 0; i < std::ssize(actions); ++i) {
      const ComputeAction& a = actions[at(i)];
      const bool begins = a.kind == ActionKind::forward && a.chunk == 0 && a.micro_batch >= from &&
                          a.micro_batch <= cut && (cut - a.micro_batch) % period == 0;
      if (begins) ranks[r].begins.push_back(i);
    }
    ranks[r].oldest = ranks[r].begins.back();
  }
  struct Place {
    std::int32_t rank = -1;
    std::int64_t index = 0;
  };
  std::vector<Place> maker(at(order.run.slots));
  std::vector<std::int64_t> next(ranks.size(), 0);
  for (const DryRunStep& step : order.run.steps) {
    const std::int64_t index = next[at(step.rank)]++;
    if (step.output >= 0) maker[at(step.output)] = {step.rank, index};
    if (step.input < 0 || index < ranks[at(step.rank)].begins.back()) continue;
    const Place& made = maker[at(step.input)];
    ranks[at(made.rank)].oldest = std::min(ranks[at(made.rank)].oldest, made.index);
  }
  return ranks;
}

std::optional<SteadyPeriods> steady_periods_of(const CheckedOrder& order, const RecordedTiming& recorded,
                                               const std::vector<PeriodicRank>& ranks, std::int32_t period) {
  return steady_periods(
      ranks,
      [&](std::size_t rank, std::int64_t i, std::int64_t length, std::int32_t periods) -> std::optional<Picoseconds> {
        const ComputeAction& now = order.schedule.ranks[rank][at(i)];
        ComputeAction before = order.schedule.ranks[rank][at(i - length)];
        before.micro_batch += periods * period;
        if (now != before) return std::nullopt;
        return recorded.ends[rank][at(i)] - recorded.ends[rank][at(i - length)];
      },
      [](std::int32_t) { return true; });
}

/// With periods left out of the order before `shorter.cut`; nothing where no steady state is found there.
std::optional<OrderTiming> jumped(Schedule schedule, std::int64_t micro_batches, ShortShape shorter,
                                  const StageTimes& times) {
  const std::int32_t period = repeating_period(schedule, shorter.shape.pipeline_stages);
  const std::int32_t from = *repeating_from(schedule, shorter.shape.pipeline_stages);
  for (;;) {
    const auto order = checked_order(schedule, shorter.shape);
    RecordedTiming recorded = recorded_timing(order->run, times);
    const auto steady = steady_periods_of(*order, recorded, periodic_ranks(*order, from, shorter.cut, period), period);
    if (!steady) return std::nullopt;
    const std::int64_t jump = std::int64_t{steady->periods} * period;
    const std::int64_t left_out = micro_batches - shorter.shape.micro_batches;
    if (left_out % jump == 0) {
      for (Picoseconds& end : recorded.timing.end) end += left_out / jump * steady->time;
      return std::move(recorded.timing);
    }
    shorter.shape.micro_batches += static_cast<std::int32_t>(left_out % jump);
  }
}

}  // namespace

OrderTiming schedule_timing(Schedule schedule, const PipelineShape& shape, const StageTimes& times) {
  for (std::int32_t periods = 4 * shape.pipeline_stages + 8;; periods *= 4) {
    const auto shorter = short_shape(schedule, shape, periods);
    if (!shorter) break;
    if (auto timing = jumped(schedule, shape.micro_batches, *shorter, times)) return std::move(*timing);
  }
  return order_timing(checked_order(schedule, shape)->run, times);
}

}  // namespace plumbline
