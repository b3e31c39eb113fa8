// The order of every schedule against the published one: PyTorch's own lists, V-Half's from its authors' scheduler.

#include "tests/catch.h"
#include "tests/in_flight.h"
#include "tests/period_without_barrier.h"
#include "tests/schedules.h"

namespace plumbline {
namespace {

std::vector<std::int64_t> peak_states(const ComputeSchedule& schedule) {
  std::vector<std::int64_t> peaks;
  for (const RankOrder& order : schedule.ranks) peaks.push_back(in_flight(order).states);
  return peaks;
}

std::vector<std::int64_t> stated_peaks(Schedule schedule, const PipelineShape& shape) {
  Strategy s;
  s.schedule = schedule;
  s.pipeline_stages = shape.pipeline_stages;
  s.virtual_stages = shape.virtual_stages;
  s.micro_batches = shape.micro_batches;
  std::vector<std::int64_t> peaks;
  for (std::int32_t rank = 0; rank < shape.pipeline_stages; ++rank) peaks.push_back(chunks_in_flight(s, rank));
  return peaks;
}

std::int32_t chunks_of(Schedule schedule) {
  if (schedule == Schedule::interleaved) return 2;
  return placement(schedule) == StagePlacement::v_shaped ? 2 : 1;
}

TEST_CASE("actions come in the published order for p of 2, 4, 8 and m of p, 2 p, 2 p + 1, 4 p") {
  TestRows file("pipeline_schedules/orders.json");
  std::map<std::string, int> rows;
  for (JsonObject& row : file.rows()) {
    const PipelineShape shape = shape_at(row);
    INFO(row.at("schedule").string() << ", p " << shape.pipeline_stages << ", v " << shape.virtual_stages << ", m "
                                     << shape.micro_batches);
    const ComputeSchedule made = compute_schedule(schedule_at(row), shape);
    const ComputeSchedule published = orders_at(row);
    CHECK(to_schedule_csv(made) == to_schedule_csv(published));
    CHECK(made == published);
    ++rows[row.at("schedule").string()];
  }
  CHECK(rows == std::map<std::string, int>{{"gpipe", 12},
                                           {"1f1b", 12},
                                           {"interleaved", 12},
                                           {"zb-h1", 12},
                                           {"zbv", 12},
                                           {"v-half", 12},
                                           {"dualpipev", 9}});
}

TEST_CASE("shapes without an order are refused with their numbers, all others run to the end") {
  int refused = 0;
  for (const Schedule schedule : all_schedules)
    for (const std::int32_t p : {2, 3, 4, 5, 8})
      for (std::int32_t m = 1; m <= 4 * p + 1; ++m) {
        const std::int32_t v = chunks_of(schedule);
        const bool illegal = schedule == Schedule::none || (schedule == Schedule::interleaved && m % p != 0) ||
                             (schedule == Schedule::dualpipev && m < 2 * p);
        INFO(to_text(schedule) << ", p " << p << ", m " << m);
        REQUIRE(schedule_fault(schedule, p, v, m).has_value() == illegal);
        refused += illegal ? 1 : 0;
        if (illegal) continue;
        const ComputeSchedule made = compute_schedule(schedule, {p, v, m});
        REQUIRE_FALSE(action_fault(made));
        REQUIRE_FALSE(dry_run(made).deadlock);
      }
  CHECK(refused > 0);
}

TEST_CASE("states in flight, counted over the order, are those that the plan is priced with") {
  for (const Schedule schedule : all_schedules)
    for (const std::int32_t p : {2, 3, 4, 5, 8})
      for (std::int32_t m = 1; m <= 4 * p + 1; ++m) {
        const PipelineShape shape{p, chunks_of(schedule), m};
        if (schedule_fault(schedule, p, shape.virtual_stages, m)) continue;
        INFO(to_text(schedule) << ", p " << p << ", m " << m);
        const std::vector<std::int64_t> counted = peak_states(compute_schedule(schedule, shape));
        const std::vector<std::int64_t> stated = stated_peaks(schedule, shape);
        for (std::size_t rank = 0; rank < counted.size(); ++rank) REQUIRE(counted[rank] <= stated[rank]);
        if (!splits_backward(schedule) || m >= 2 * p) REQUIRE(counted == stated);
      }
}

// p 4, m 16, every action 1 (2 half units); chunks take half. Published simulation: 57, 52.5, 51, 49.5, 49.5.
TEST_CASE("p 4 and m 16 take the published makespans and hold the published states") {
  const auto half_units = [](Schedule schedule, std::int32_t v) {
    const PipelineShape shape{4, v, 16};
    return order_makespan(compute_schedule(schedule, shape), equal_actions(shape, 2 / v)).value();
  };
  CHECK(half_units(Schedule::one_f_one_b, 1) == 114);
  CHECK(half_units(Schedule::interleaved, 2) == 105);
  CHECK(half_units(Schedule::zb_h1, 1) == 102);
  CHECK(half_units(Schedule::zbv, 2) == 99);
  CHECK(half_units(Schedule::dualpipev, 2) == 99);
  const auto peaks = [](Schedule schedule, std::int32_t v) {
    return peak_states(compute_schedule(schedule, {4, v, 16}));
  };
  using Peaks = std::vector<std::int64_t>;
  CHECK(peaks(Schedule::one_f_one_b, 1) == Peaks{4, 3, 2, 1});
  CHECK(peaks(Schedule::interleaved, 2) == Peaks{11, 9, 7, 5});
  CHECK(peaks(Schedule::zb_h1, 1) == Peaks{4, 4, 4, 4});
  CHECK(peaks(Schedule::zb_h2, 1) == Peaks{7, 7, 7, 7});
  CHECK(peaks(Schedule::zbv, 2) == Peaks{8, 8, 8, 8});
  CHECK(peaks(Schedule::v_half, 2) == Peaks{6, 6, 6, 6});
  CHECK(peaks(Schedule::dualpipev, 2) == Peaks{9, 9, 9, 9});
}

// 2401.10241 section 2.2: with equal times nothing but a barrier makes ZB-H2 wait; likewise ZBV (section 6).
TEST_CASE("ZB-H2 and ZBV have no bubble without a barrier when all actions take the same time") {
  for (const std::int32_t p : {2, 4, 8}) {
    const PipelineShape straight{p, 1, 4 * p};
    const PipelineShape folded{p, 2, 4 * p};
    CHECK(period_without_barrier(compute_schedule(Schedule::zb_h2, straight), equal_actions(straight, 2)) ==
          Period{Picoseconds(std::int64_t{6} * 4 * p), 1});
    CHECK(period_without_barrier(compute_schedule(Schedule::zbv, folded), equal_actions(folded, 1)) ==
          Period{Picoseconds(std::int64_t{6} * 4 * p), 1});
  }
}

}  // namespace
}  // namespace plumbline
