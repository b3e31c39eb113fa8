#include "gui/scatter/scatter_plot.h"

#include <QSignalSpy>
#include <QTest>
#include <random>

#include "tests/catch.h"

namespace plumbline::gui {
namespace {

ScatterPicture picture_of(int points) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  ScatterPicture picture;
  picture.capacity_gib = 80;
  for (int i = 0; i < points; ++i) {
    const double step = 10 + 10 * share(random);
    picture.points.push_back({30 + 40 * share(random), step, 0.9 * step, 1.1 * step, i % 10 == 0, "plan"});
  }
  picture.front = {{30, 19}, {50, 12}, {70, 10}};
  return picture;
}

int nearest_of_all(const std::vector<QPointF>& points, const QPointF& at, double reach) {
  int best = -1;
  double least = reach * reach;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const QPointF away = points[i] - at;
    const double distance = QPointF::dotProduct(away, away);
    if (distance < least || (distance == least && best < 0)) {
      least = distance;
      best = static_cast<int>(i);
    }
  }
  return best;
}

}  // namespace

TEST_CASE("the grid finds the nearest of all points") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-40, 400);
  std::vector<QPointF> points;
  for (int i = 0; i < 500; ++i) points.emplace_back(place(random), place(random));
  const PointGrid grid(points);
  for (int i = 0; i < 300; ++i) {
    const QPointF at(place(random), place(random));
    CHECK(grid.nearest(at, 12) == nearest_of_all(points, at, 12));
  }
}

TEST_CASE("a pointer over a point hovers it, a click chooses it, away from all nothing is") {
  ScatterPlot plot;
  plot.resize(600, 300);
  plot.set_picture(picture_of(40));
  plot.show();
  QSignalSpy hovered(&plot, &ScatterPlot::hovered_changed), clicked(&plot, &ScatterPlot::clicked);
  QTest::mouseMove(&plot, plot.place_of(3).toPoint());
  REQUIRE(hovered.count() == 1);
  CHECK(plot.hovered() >= 0);
  QTest::mouseClick(&plot, Qt::LeftButton, Qt::ControlModifier, plot.place_of(3).toPoint());
  REQUIRE(clicked.count() == 1);
  CHECK(clicked[0][1].toBool());
  QTest::mouseMove(&plot, QPoint(1, 1));
  CHECK(plot.hovered() == -1);
}

TEST_CASE("keys go through the points and choose") {
  ScatterPlot plot;
  plot.resize(600, 300);
  plot.set_picture(picture_of(3));
  QSignalSpy clicked(&plot, &ScatterPlot::clicked);
  for (int i = 0; i < 5; ++i) QTest::keyClick(&plot, Qt::Key_Right);
  CHECK(plot.hovered() == 2);
  QTest::keyClick(&plot, Qt::Key_Left);
  QTest::keyClick(&plot, Qt::Key_Return);
  REQUIRE(clicked.count() == 1);
  CHECK(clicked[0][0].toInt() == 1);
}

TEST_CASE("many points are painted from one picture of them as few are one by one") {
  ScatterPlot plot;
  plot.resize(600, 300);
  plot.set_picture({});
  const QImage empty = plot.grab().toImage();
  plot.set_picture(picture_of(5000));
  const QImage many = plot.grab().toImage();
  CHECK(empty != many);
  const QPoint at = plot.place_of(4990).toPoint();  // tied, painted on top
  CHECK(many.pixelColor(at) != empty.pixelColor(at));
  CHECK(plot.grab().toImage() == many);  // from the cache
}

}  // namespace plumbline::gui
