// Makespans of explicit orders, and optima over all orders, against instances solved by other methods.

#include "core/program/order_makespan.h"

#include "tests/catch.h"
#include "tests/in_flight.h"
#include "tests/period_without_barrier.h"
#include "tests/schedules.h"

namespace plumbline {
namespace {

TEST_CASE("explicit orders take the solved makespans, and are the orders that the schedules make") {
  TestRows file("pipeline_makespan_orders.json");
  REQUIRE(file.rows().size() == 14);
  for (JsonObject& row : file.rows()) {
    const ComputeSchedule order = orders_at(row);
    INFO(row.at("id").string());
    CHECK(order_makespan(order, stage_times_at(row)).value() == count_at(row, "makespan"));
    CHECK(compute_schedule(schedule_at(row), shape_at(row)) == order);
  }
}

/// Every order of one rank that keeps the micro-batches' order and never holds more than `most_states`.
class OrdersOfRank {
 public:
  OrdersOfRank(std::int32_t micro_batches, std::int64_t most_states) : m_(micro_batches), most_(most_states) {
    extend(0, 0, 0);
  }
  [[nodiscard]] const std::vector<RankOrder>& all() const { return all_; }

 private:
  void extend(std::int32_t f, std::int32_t b, std::int32_t w) {
    if (w == m_) all_.push_back(order_);
    if (f < m_ && f - w < most_) with({ActionKind::forward, 0, f}, f + 1, b, w);
    if (b < f) with({ActionKind::backward_input, 0, b}, f, b + 1, w);
    if (w < b) with({ActionKind::backward_weight, 0, w}, f, b, w + 1);
  }
  void with(ComputeAction action, std::int32_t f, std::int32_t b, std::int32_t w) {
    order_.push_back(action);
    extend(f, b, w);
    order_.pop_back();
  }
  std::int32_t m_;
  std::int64_t most_;
  RankOrder order_;
  std::vector<RankOrder> all_;
};

struct Optimum {
  std::int64_t makespan = std::numeric_limits<std::int64_t>::max();
  double period = std::numeric_limits<double>::max();
};

/// Over every combination of the ranks' orders that runs to its end.
void search(ComputeSchedule& schedule, const std::vector<OrdersOfRank>& choices, const StageTimes& times, bool period,
            Optimum& best) {
  const std::size_t rank = schedule.ranks.size();
  if (rank < choices.size()) {
    for (const RankOrder& order : choices[rank].all()) {
      schedule.ranks.push_back(order);
      search(schedule, choices, times, period, best);
      schedule.ranks.pop_back();
    }
    return;
  }
  const DryRun run = dry_run(schedule);
  if (run.deadlock) return;
  best.makespan = std::min(best.makespan, order_timing(run, times).makespan().value());
  if (period) best.period = std::min(best.period, period_without_barrier(schedule, times).picoseconds());
}

TEST_CASE("exhaustive search with these evaluators finds the solved optima") {
  TestRows file("pipeline_optimal_orders.json");
  REQUIRE(file.rows().size() == 9);
  for (JsonObject& row : file.rows()) {
    ComputeSchedule schedule{shape_at(row), StagePlacement::looped, {}};
    std::vector<OrdersOfRank> choices;
    for (const std::int64_t most : counts_at(row, "most_states"))
      choices.emplace_back(schedule.shape.micro_batches, most);
    const bool period = row.has("period");
    Optimum best;
    search(schedule, choices, stage_times_at(row), period, best);
    INFO(row.at("id").string());
    CHECK(best.makespan == count_at(row, "makespan"));
    if (period) CHECK(best.period == number_at(row, "period"));
  }
}

// p 2, m 3, all actions 2: with 3 states per rank the barrier still costs 20; without one ZB-H2 reaches the work, 18.
TEST_CASE("ZB-H1 and ZB-H2 reach the solved optima of their memory") {
  const PipelineShape shape{2, 1, 3};
  const StageTimes times = equal_actions(shape, 2);
  const ComputeSchedule h1 = compute_schedule(Schedule::zb_h1, shape);
  const ComputeSchedule h2 = compute_schedule(Schedule::zb_h2, shape);
  CHECK(in_flight(h1.ranks[0]).states == 2);
  CHECK(in_flight(h2.ranks[0]).states == 3);
  CHECK(order_makespan(h1, times) == Picoseconds(20));
  CHECK(order_makespan(h2, times) == Picoseconds(20));
  CHECK(period_without_barrier(h1, times) == Period{Picoseconds(20), 1});
  CHECK(period_without_barrier(h2, times) == Period{Picoseconds(18), 1});
}

}  // namespace
}  // namespace plumbline
