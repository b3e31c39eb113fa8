#include "gui/scatter/scatter_plot.h"

#include <QImage>
#include <QSignalSpy>
#include <QTest>
#include <random>

#include "gui/palette.h"
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

TEST_CASE("a limit beyond the picture is an arrow at its edge, and the front's fastest plan lies inside") {
  ScatterPlot plot;
  plot.resize(500, 300);
  ScatterPicture picture;
  picture.points = {{40, 10, 9, 11, true, "a"}, {50, 12, 8, 13, false, "b"}};
  picture.front = {{30, 7}, {40, 10}};
  picture.limit_words = "30 days";
  const auto reds = [&](double limit, const QRect& area) {
    picture.limit_s = limit;
    plot.set_picture(picture);
    const QImage image = plot.grab(area).toImage();
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == palette_of(plot).refusal ? 1 : 0;
    return count;
  };
  const QRect bottom(0, 220, 500, 60), top(0, 0, 500, 40);
  CHECK(reds(1, bottom) > 20);
  CHECK(reds(1, top) == 0);
  CHECK(reds(100, top) > 20);
  CHECK(reds(100, bottom) == 0);
  CHECK(reds(0, top) + reds(0, bottom) == 0);
  picture.points.push_back({30, 7, 7, 7, false, "the front's fastest"});
  const QPointF with_point = [&] {
    ScatterPlot other;
    other.resize(500, 300);
    other.set_picture(picture);
    return other.place_of(0);
  }();
  CHECK(plot.place_of(0) == with_point);  // the axes held it before it was a point
}

}  // namespace plumbline::gui
