#include "gui/scatter/point_shade.h"

#include "gui/scatter/scatter_plot.h"
#include "tests/catch.h"

namespace plumbline::gui {
namespace {

ScatterPicture three_plans() {
  ScatterPicture picture;
  picture.points = {
      {40, 10, 9, 12, true, "a", 100, 8}, {50, 12, 11, 14, false, "b", 300, 16}, {60, 14, 12, 17, false, "c", 500, 32}};
  picture.cost_of = "the run";
  return picture;
}

}  // namespace

TEST_CASE("colours of a figure go from the least to the largest, and its scale says both") {
  const ScatterPicture picture = three_plans();
  const PointShade shade(Shade::cost, picture);
  CHECK(shade.index_of(picture.points[0]) == PointShade::steps - 1);
  CHECK(shade.index_of(picture.points[2]) == 0);
  CHECK(shade.index_of(picture.points[1]) > 0);
  CHECK(shade.title() == "cost of the run");
  CHECK(shade.least_words() == "$100");
  CHECK(shade.most_words() == "$500");
  CHECK(PointShade(Shade::devices, picture).most_words() == "32");
}

TEST_CASE("lightness of the scale changes one way in both schemes") {
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    const Palette& palette = palette_of(scheme);
    double before = 0;
    for (int i = 0; i <= 20; ++i) {
      const QColor colour = palette.sequential(i / 20.);
      const double luminance = 0.2126 * colour.redF() + 0.7152 * colour.greenF() + 0.0722 * colour.blueF();
      CHECK(luminance > before);
      before = luminance;
    }
  }
}

TEST_CASE("where nobody knows a price, colours go on saying the noise") {
  ScatterPicture picture = three_plans();
  for (ScatterPoint& point : picture.points) point.cost = 0;
  CHECK(PointShade(Shade::cost, picture).shade() == Shade::noise);
}

TEST_CASE("a plot shows intervals, a scale of colours and the limit of the run where it is asked to") {
  ScatterPlot plot;
  plot.resize(600, 300);
  plot.set_picture(three_plans());
  const QImage plain = plot.grab().toImage();
  const double before = plot.place_of(1).y();
  plot.set_intervals(Intervals::of_all);
  CHECK(plot.place_of(1).y() != before);  // the axis holds the intervals too
  plot.set_intervals(Intervals::of_marked);
  CHECK(plot.grab().toImage() == plain);
  plot.set_shade(Shade::cost);
  const QImage coloured = plot.grab().toImage();
  CHECK(coloured.pixelColor(plot.place_of(0).toPoint()) != plain.pixelColor(plot.place_of(0).toPoint()));
  ScatterPicture limited = three_plans();
  limited.limit_s = 13;
  limited.limit_words = "30 days";
  plot.set_shade(Shade::noise);
  plot.set_picture(limited);
  const QImage with_limit = plot.grab().toImage();
  const QPoint above = plot.place_of(2).toPoint() + QPoint(-40, 0);
  CHECK(with_limit.pixelColor(above) == palette_of(Scheme::light).refused);
}

}  // namespace plumbline::gui
