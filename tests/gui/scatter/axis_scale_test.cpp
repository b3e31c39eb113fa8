#include "gui/scatter/axis_scale.h"

#include "tests/catch.h"

namespace plumbline::gui {

TEST_CASE("an axis goes there and back, also where pixels fall") {
  const AxisScale scale(10, 20, 200, 0);
  CHECK(scale.pixel(10) < 200);
  CHECK(scale.pixel(20) > 0);
  for (const double value : {10., 12.5, 20.}) CHECK(scale.value(scale.pixel(value)) == Approx(value));
}

TEST_CASE("marks are round values within the axis") {
  const AxisScale scale(61.2, 74.8, 0, 100);
  const std::vector<double> ticks = scale.ticks(5);
  CHECK(ticks == std::vector<double>{65, 70, 75});
  CHECK(scale.digits(5) == 0);
  CHECK(AxisScale(0.101, 0.109, 0, 100).digits(5) == 3);
}

TEST_CASE("one value alone has an axis too") {
  const AxisScale scale(3, 3, 0, 100);
  CHECK(scale.pixel(3) == Approx(50));
  CHECK_FALSE(scale.ticks(4).empty());
  CHECK(AxisScale(0, 0, 0, 100).high() > 0);
}

}  // namespace plumbline::gui
