// Shares of pixel columns.
#include "gui/pages/timeline/pixel_columns.h"

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

}  // namespace
}  // namespace plumbline::gui
