#pragma once
/// \file lane_picture.h: what the timeline of stages looks like, for a viewport, a window of time and a chosen stage.
///
/// Checked against: tests/gui/pages/timeline/timeline_page_test.cpp, through the view that shows it.

#include <QPointF>
#include <QRectF>
#include <QSize>
#include <QString>
#include <optional>

#include "gui/pages/timeline/lane_painter.h"
#include "gui/pages/timeline/lane_rows.h"
#include "gui/pages/timeline/time_axis.h"

namespace plumbline::gui {

/// Where a picture is seen: in logical pixels.
struct LaneViewport {
  QSize size;
  int width = 0;  ///< of the axis, with a scroll bar beside the viewport
  int scroll = 0;
  qreal pixel_ratio = 1;

  /// For lanes.
  [[nodiscard]] double room() const;
  /// Of a point's height, in the coordinates of the rows; negative on the axis.
  [[nodiscard]] double row_y(double y) const;
};

class LanePicture {
 public:
  SharedTimeline data;
  LaneRows rows;
  TimeWindow window;
  std::size_t stage = 0;  ///< the chosen one
  std::optional<double> instant;

  [[nodiscard]] TimeScale scale(const LaneViewport& seen) const { return time_scale(window, seen.width); }
  /// "stage 3, backward of micro-batch 12, 4.5 ms from 81.2 ms"; empty where there is nothing.
  [[nodiscard]] QString words_at(QPointF position, const LaneViewport& seen) const;
  void paint(QPainter& painter, const Palette& palette, const LaneViewport& seen);

 private:
  [[nodiscard]] QRectF area_of(const LaneRow& row, const LaneViewport& seen) const;
  void paint_lanes(QPainter& painter, const Palette& palette, const LaneViewport& seen);
  void paint_name(QPainter& painter, const LaneRow& row, const QRectF& area, const Palette& palette) const;
  void paint_left_out(QPainter& painter, const LaneRow& row, QRectF area, const Palette& palette,
                      const TimeScale& across) const;
  void paint_axis(QPainter& painter, const Palette& palette, const LaneViewport& seen) const;

  LanePainter lanes_;
};

}  // namespace plumbline::gui
