// Bubble rates from profiled times against those of arXiv:2401.10241, table 5: (cost - m (F + B + W)) / cost.

#include "core/program/order_makespan.h"
#include "tests/catch.h"
#include "tests/schedules.h"

namespace plumbline {
namespace {

Picoseconds milliseconds_at(JsonObject& row, const char* key, std::int64_t parts) {
  return Picoseconds(std::llround(number_at(row, key) * 1e9 / static_cast<double>(parts)));
}

struct Rates {
  double with_barrier = 0;     ///< cost is the makespan
  double without_barrier = 0;  ///< cost is the period
};

Rates rates(JsonObject& row, Schedule schedule) {
  const PipelineShape shape = shape_at(row);
  const std::int64_t v = shape.virtual_stages;
  const Picoseconds f = milliseconds_at(row, "forward_ms", v);
  const Picoseconds b = milliseconds_at(row, "backward_input_ms", v);
  const Picoseconds w = milliseconds_at(row, "backward_weight_ms", v);
  const StageTimes times = equal_stages(shape.stages(), f, b, w, milliseconds_at(row, "communication_ms", 1));
  const ComputeSchedule order = compute_schedule(schedule, shape);
  const auto work = static_cast<double>((shape.micro_batches * v * (f + b + w)).value());
  return {1 - work / static_cast<double>(order_makespan(order, times).value()),
          1 - work / period_without_barrier(order, times).picoseconds()};
}

struct Error {
  double with_barrier = 0;
  double without_barrier = 0;
  int rows = 0;
};

/// The largest distance to the published rates of one schedule.
Error largest_error(const std::string& published, Schedule schedule) {
  TestRows file("zero_bubble_rates.json");
  Error error;
  for (JsonObject& row : file.rows()) {
    if (row.at("schedule").string() != published) continue;
    const Rates predicted = rates(row, schedule);
    const double rate = number_at(row, "bubble_rate");
    UNSCOPED_INFO(row.at("id").string() << ": published " << rate << ", with a barrier " << predicted.with_barrier
                                        << ", without " << predicted.without_barrier);
    error.with_barrier = std::max(error.with_barrier, std::abs(predicted.with_barrier - rate));
    error.without_barrier = std::max(error.without_barrier, std::abs(predicted.without_barrier - rate));
    ++error.rows;
  }
  return error;
}

TEST_CASE("1F1B and ZB-H1 have the published bubble rates, by makespan and by period alike") {
  for (const auto& [published, schedule] :
       {std::pair{"1F1B", Schedule::one_f_one_b}, std::pair{"ZB-1p", Schedule::zb_h1}}) {
    const Error error = largest_error(published, schedule);
    CHECK(error.rows == 9);
    CHECK(error.with_barrier <= 0.0002);
    CHECK(error.without_barrier <= 0.0002);
  }
}

// Latency on every hop, the way from the last rank back to the first too: 0.0004 to 0.0036 above the published rates.
TEST_CASE("interleaved 1F1B is within half a percent of the step of the published bubble rates") {
  const Error error = largest_error("1F1B-I", Schedule::interleaved);
  CHECK(error.rows == 9);
  CHECK(error.with_barrier <= 0.004);
}

// Published ZB-2p is searched for with the profiled times; ZB-H2 is fixed and waits where F, B and W differ. Both cost
// less than ZB-H1, and the period never exceeds the makespan.
TEST_CASE("ZB-H2 lies between ZB-H1 and the searched ZB-2p") {
  TestRows file("zero_bubble_rates.json");
  int rows = 0;
  for (JsonObject& row : file.rows()) {
    if (row.at("schedule").string() != "ZB-2p") continue;
    const Rates h1 = rates(row, Schedule::zb_h1);
    const Rates h2 = rates(row, Schedule::zb_h2);
    INFO(row.at("id").string() << ": ZB-H2 with a barrier " << h2.with_barrier << ", without " << h2.without_barrier);
    CHECK(h2.without_barrier >= number_at(row, "bubble_rate"));
    CHECK(h2.without_barrier <= h2.with_barrier);
    CHECK(h2.with_barrier < h1.with_barrier);
    ++rows;
  }
  CHECK(rows == 9);
}

}  // namespace
}  // namespace plumbline
