// Shares of pixel columns.
#include "gui/pages/timeline/pixel_columns.h"

#include <algorithm>

#include "tests/catch.h"

namespace plumbline::gui {
namespace {

constexpr auto forward = static_cast<std::size_t>(Activity::forward);
constexpr auto backward = static_cast<std::size_t>(Activity::backward);

/// Busy from 100 to 150 and from 150 to 400, of 1000.
Lane sample_lane() {
  return {"stage 0",
          {{{Picoseconds(100), Picoseconds(150)}, Activity::forward, 0, 0},
           {{Picoseconds(150), Picoseconds(400)}, Activity::backward, 0, 0}},
          {}};
}

TEST_CASE("a column says how much of it each activity takes") {
  std::vector<ColumnShares> shares(10);
  lane_columns(sample_lane(), TimeWindow(1000), shares);
  CHECK(shares[0][forward] == 0);
  CHECK(shares[1][forward] == Approx(0.5));
  CHECK(shares[1][backward] == Approx(0.5));
  CHECK(shares[3][backward] == 1);
  CHECK(shares[4][backward] == 0);
}

TEST_CASE("columns of a part of the step are that part's") {
  TimeWindow window(10'000);
  window.show(0, 2000);
  std::vector<ColumnShares> shares(4);
  lane_columns(sample_lane(), window, shares);
  // 500 picoseconds each: the first has 50 forward and 250 backward.
  CHECK(shares[0][forward] == Approx(0.1));
  CHECK(shares[0][backward] == Approx(0.5));
  CHECK(shares[1] == ColumnShares{});
  window.show(390, 2000);
  lane_columns(sample_lane(), window, shares);
  CHECK(shares[0][backward] == Approx(0.02));
}

TEST_CASE("shares sum to the time of the lane however narrow segments are") {
  Lane lane{"stage 0", {}, {}};
  for (std::int64_t i = 0; i < 10'000; ++i)
    lane.segments.push_back({{Picoseconds(3 * i), Picoseconds(3 * i + 1)}, Activity::forward, 0, 0});
  std::vector<ColumnShares> shares(100);
  lane_columns(lane, TimeWindow(30'000), shares);
  for (const ColumnShares& column : shares) CHECK(column[forward] == Approx(1. / 3).epsilon(0.01));
}

/// Forward and backward by turns, of lengths that beat against any pixel grid.
Lane alternating_lane(int micro_batches) {
  Lane lane{"stage 0", {}, {}};
  std::int64_t time = 0;
  for (int i = 0; i < micro_batches; ++i)
    for (const Activity activity : {Activity::forward, Activity::backward}) {
      const std::int64_t length = activity == Activity::forward ? 1013 : 2039;
      lane.segments.push_back({{Picoseconds(time), Picoseconds(time + length)}, activity, 0, i});
      time += length;
    }
  return lane;
}

TEST_CASE("segments as narrow as pixels are bins of time without a pattern of the pixel grid") {
  const Lane lane = alternating_lane(512);
  const double end = 512 * (1013 + 2039);
  std::vector<ColumnShares> shares(1000);  // 1 column a segment: each would be forward or backward alone
  const TimeWindow whole(end);
  REQUIRE(shows_bins(lane, whole, shares.size()));
  lane_columns(lane, whole, shares);
  float least = 1, most = 0;
  for (const ColumnShares& column : shares) {
    least = std::min(least, column[forward]);
    most = std::max(most, column[forward]);
    CHECK(column[forward] + column[backward] == Approx(1).epsilon(0.01));
  }
  CHECK(most - least < 0.16F);  // around a third
  TimeWindow near(end);
  near.show(0, 20 * 3052.);
  CHECK_FALSE(shows_bins(lane, near, shares.size()));
}

TEST_CASE("bins stay where they are in time while the view moves") {
  const Lane lane = alternating_lane(2048);
  TimeWindow window(2048. * 3052);
  const double per_column = 512. * 3052 / 500;
  window.show(100 * per_column, 500 * per_column);
  std::vector<ColumnShares> before(500), after(500);
  lane_columns(lane, window, before);
  window.show(107 * per_column, 500 * per_column);
  lane_columns(lane, window, after);
  int same = 0;
  for (std::size_t i = 0; i + 7 < before.size(); ++i) same += before[i + 7] == after[i] ? 1 : 0;
  CHECK(same > 480);
}

}  // namespace
}  // namespace plumbline::gui
