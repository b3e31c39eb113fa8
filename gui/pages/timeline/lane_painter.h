#pragma once
/// \file lane_painter.h: lanes of time as pixels: shares of columns as an image, what is wide enough as boxes with
/// their micro-batch.

#include <QFont>
#include <QImage>
#include <QRectF>
#include <QStaticText>
#include <functional>
#include <vector>

#include "gui/pages/timeline/pixel_columns.h"

class QPainter;

namespace plumbline::gui {

/// Paints lanes into one image, then what lies on top of it. Keeps its buffers from frame to frame.
class LanePainter {
 public:
  /// `size` in logical pixels: what all lanes together cover.
  void begin(QSize size, qreal pixel_ratio, const QColor& background);
  void add_lane(const Lane& lane, const QRectF& area, const TimeWindow& window, const Palette& palette) {
    add_columns([&](std::vector<ColumnShares>& shares) { lane_columns(lane, window, shares); }, area, palette);
  }
  /// `fill` says what is in the columns; it is given one for each pixel.
  void add_columns(const std::function<void(std::vector<ColumnShares>&)>& fill, const QRectF& area,
                   const Palette& palette);
  [[nodiscard]] const QImage& image() const { return image_; }
  /// Edges of wide segments, and their micro-batches where these fit.
  void draw_boxes(QPainter& painter, const Lane& lane, const QRectF& area, const TimeWindow& window,
                  const Palette& palette);

 private:
  const QStaticText& number(std::int32_t value, const QFont& font);

  QImage image_;
  qreal ratio_ = 1;
  std::vector<ColumnShares> shares_;
  std::vector<QStaticText> numbers_;  ///< by value
  QFont font_;                        ///< of these
};

}  // namespace plumbline::gui
