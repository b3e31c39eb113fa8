// The part of a step that is looked at.
#include "gui/pages/timeline/time_window.h"

#include "gui/pages/timeline/time_axis.h"
#include "tests/catch.h"

namespace plumbline::gui {
namespace {

TEST_CASE("zooming keeps the instant under the pointer where it is") {
  TimeWindow window(1e9);
  window.zoom(4, 0.25);
  // A quarter of the length; what lay at a quarter of the width still does: 0.25e9 = begin + 0.25 * 0.25e9.
  CHECK(window.length() == Approx(0.25e9));
  CHECK(window.begin() == Approx(0.1875e9));
  window.zoom(0.25, 0.25);
  CHECK(window.is_whole());
}

TEST_CASE("a window never leaves the step") {
  TimeWindow window(1e9);
  window.zoom(10, 0);
  window.move(-5);
  CHECK(window.begin() == 0);
  window.move(100);
  CHECK(window.end() == Approx(1e9));
  window.zoom(1e30, 0.5);
  CHECK(window.length() == 1000);
  window.zoom(1e-30, 0.5);
  CHECK(window.is_whole());
  CHECK(TimeWindow(0).whole() == 1);
}

TEST_CASE("marks of the axis are round numbers with room between them") {
  const TimeScale scale = time_scale(TimeWindow(1.3e9), 1000);
  const std::vector<TimeMark> marks = time_marks(scale);
  REQUIRE(marks.size() >= 4);
  CHECK(marks[0].words == "0.0 ms");
  CHECK(marks[1].words == "0.2 ms");
  CHECK(scale.x_of(marks[1].time) - scale.x_of(marks[0].time) >= 90);
  CHECK(scale.time_at(scale.x_of(5e8)) == Approx(5e8));
}

}  // namespace
}  // namespace plumbline::gui
