// Rectangles of given areas.
#include "gui/pages/memory/treemap_layout.h"

#include "tests/catch.h"

namespace plumbline::gui {
namespace {

TEST_CASE("the example of the paper: 6, 6, 4, 3, 2, 2, 1 in a rectangle of 6 by 4") {
  const std::vector<QRectF> places = squarified({6, 6, 4, 3, 2, 2, 1}, QRectF(0, 0, 6, 4));
  // Figure 4: the two of area 6 share the left three columns, each 3 wide and 2 high.
  CHECK(places[0] == QRectF(0, 0, 3, 2));
  CHECK(places[1] == QRectF(0, 2, 3, 2));
  // Then 4 and 3 lie side by side above the rest: 12/7 and 9/7 wide, 7/3 high.
  CHECK(places[2].width() == Approx(12. / 7));
  CHECK(places[3].width() == Approx(9. / 7));
  CHECK(places[2].height() == Approx(7. / 3));
  CHECK(places[3].height() == Approx(7. / 3));
}

TEST_CASE("areas are in proportion, inside, and do not overlap") {
  const std::vector<double> sizes{50, 20, 10, 9, 5, 3, 2, 1, 0, 0};
  const QRectF area(10, 20, 300, 100);
  const std::vector<QRectF> places = squarified(sizes, area);
  REQUIRE(places.size() == sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    CHECK(places[i].width() * places[i].height() == Approx(sizes[i] / 100 * 300 * 100).margin(1e-6));
    if (sizes[i] > 0) CHECK(area.adjusted(-1e-6, -1e-6, 1e-6, 1e-6).contains(places[i]));
    for (std::size_t j = 0; j < i; ++j) {
      const QRectF both = places[i].intersected(places[j]);
      CHECK(both.width() * both.height() == Approx(0).margin(1e-6));
    }
  }
}

TEST_CASE("nothing has no area") {
  CHECK(squarified({}, QRectF(0, 0, 10, 10)).empty());
  CHECK(squarified({0, 0}, QRectF(0, 0, 10, 10))[1].isEmpty());
  CHECK(squarified({1}, QRectF(0, 0, 0, 0))[0].isEmpty());
}

}  // namespace
}  // namespace plumbline::gui
