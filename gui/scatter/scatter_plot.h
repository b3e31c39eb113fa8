#pragma once
/// \file scatter_plot.h: step time against peak memory, a point for each plan, with the front that none beats in both.
///
/// Points are painted once into a picture of their own; what is hovered or chosen is painted on top of it.
/// Checked against: tests/gui/scatter/scatter_plot_test.cpp.

#include <QPixmap>
#include <QWidget>
#include <vector>

#include "gui/scatter/axis_scale.h"
#include "gui/scatter/point_grid.h"
#include "gui/scatter/point_shade.h"

namespace plumbline::gui {

/// Whether the intervals of all points are drawn, or only of those that are hovered or chosen.
enum class Intervals : std::uint8_t { of_marked, of_all };

class ScatterPlot : public QWidget {
  Q_OBJECT

 public:
  explicit ScatterPlot(QWidget* parent = nullptr);

  void set_picture(ScatterPicture picture);
  [[nodiscard]] const ScatterPicture& shown() const { return picture_; }
  void set_shade(Shade shade);
  [[nodiscard]] const PointShade& shade() const { return shade_; }
  void set_intervals(Intervals intervals);
  void set_hovered(int point);
  void set_chosen(std::vector<int> points);
  [[nodiscard]] int hovered() const { return hovered_; }
  /// Where a point is painted.
  [[nodiscard]] QPointF place_of(int point) const;

  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 160}; }

 Q_SIGNALS:
  void hovered_changed(int point);
  /// `adds`: to what is chosen already.
  void clicked(int point, bool adds);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void lay_out();
  void hover(int point);
  void paint_intervals(QPainter& painter) const;
  void paint_points(QPainter& painter) const;
  void paint_marked(QPainter& painter, int point, bool is_chosen) const;
  void paint_words(QPainter& painter, int point) const;

  ScatterPicture picture_;
  Shade asked_shade_ = Shade::noise;
  PointShade shade_;
  Intervals intervals_ = Intervals::of_marked;
  QRectF plot_;
  AxisScale memory_, step_;
  PointGrid grid_;
  QPixmap cache_;
  int hovered_ = -1;
  std::vector<int> chosen_;
};

}  // namespace plumbline::gui
