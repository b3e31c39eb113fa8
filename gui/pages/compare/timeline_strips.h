#pragma once
/// \file timeline_strips.h: the simulated steps of several plans, one below the other on one axis of time.
///
/// A plan is a strip of its stages, told apart by its letter; the rest of the axis behind a shorter step stays empty.
/// Checked against: tests/gui/pages/compare_page_test.cpp.

#include <QWidget>
#include <vector>

#include "gui/pages/timeline/lane_painter.h"
#include "gui/pages/timeline/timeline_data.h"

namespace plumbline::gui {

class TimelineStrips : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineStrips(QWidget* parent = nullptr);

  void show_timelines(std::vector<SharedTimeline> timelines);
  [[nodiscard]] const std::vector<SharedTimeline>& timelines() const { return timelines_; }
  /// Where a plan's stages lie: from the step's begin to its end.
  [[nodiscard]] QRectF strip_of(std::size_t plan) const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {240, 90}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] Picoseconds longest() const;
  [[nodiscard]] double axis_height() const;
  void paint_axis(QPainter& painter) const;

  std::vector<SharedTimeline> timelines_;
  LanePainter lanes_;
};

}  // namespace plumbline::gui
