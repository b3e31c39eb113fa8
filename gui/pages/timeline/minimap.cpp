#include "gui/pages/timeline/minimap.h"

#include <QEvent>
#include <QMouseEvent>
#include <QPainter>
#include <cmath>
#include <utility>

#include "gui/pages/timeline/lane_painter.h"

namespace plumbline::gui {
namespace {

constexpr int strip_height = 34;
constexpr int shade = 150;  ///< alpha of what is not looked at

/// The mean of all stages in each column.
std::vector<ColumnShares> mean_columns(const TimelineData& data, const TimeWindow& whole, std::size_t columns) {
  std::vector<ColumnShares> mean(columns);
  std::vector<ColumnShares> shares(columns);
  const auto stages = static_cast<float>(data.stages());
  for (const Lane& lane : data.lanes) {
    lane_columns(lane, whole, shares);
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t a = 0; a < mean[column].size(); ++a) mean[column][a] += shares[column][a] / stages;
  }
  return mean;
}

}  // namespace

Minimap::Minimap(QWidget* parent) : QWidget(parent) {
  setFixedHeight(strip_height);
  setAccessibleName(tr("Whole step, and the part that is shown"));
}

void Minimap::show_data(SharedTimeline timeline) {
  data_ = std::move(timeline);
  window_ = TimeWindow(data_ ? static_cast<double>(data_->end().value()) : 1);
  cache_ = {};
  update();
}

void Minimap::show_window(const TimeWindow& window) {
  window_ = window;
  update();
}

QRectF Minimap::strip() const {
  const TimeScale across = time_scale(window_, width());
  return {across.left, 2, across.right - across.left, static_cast<double>(strip_height) - 4};
}

void Minimap::draw_cache() {
  const QRectF area(QPointF(0, 0), strip().size());
  LanePainter painter;
  painter.begin(area.size().toSize(), devicePixelRatioF(), palette_of(*this).card);
  TimeWindow whole = window_;
  whole.show_all();
  painter.add_columns([&](std::vector<ColumnShares>& shares) { shares = mean_columns(*data_, whole, shares.size()); },
                      area, palette_of(*this));
  cache_ = painter.image().copy();
  cache_.setDevicePixelRatio(devicePixelRatioF());
}

void Minimap::paintEvent(QPaintEvent* /*event*/) {
  if (!data_) return;
  const QRectF area = strip();
  const QSize pixels = (area.size() * devicePixelRatioF()).toSize();
  if (cache_.isNull() || std::abs(cache_.width() - pixels.width()) > 1) draw_cache();
  QPainter painter(this);
  painter.drawImage(area.topLeft(), cache_);
  const Palette& palette = palette_of(*this);
  const double scale = area.width() / window_.whole();
  const QRectF seen(area.left() + window_.begin() * scale, area.top(), std::max(3.0, window_.length() * scale),
                    area.height());
  QColor veil = palette.card;
  veil.setAlpha(shade);
  painter.fillRect(QRectF(area.topLeft(), QPointF(seen.left(), area.bottom())), veil);
  if (seen.right() < area.right())
    painter.fillRect(QRectF(QPointF(seen.right(), area.top()), area.bottomRight()), veil);
  painter.setPen(QPen(palette.accent, 1.5));
  painter.drawRect(seen);
  painter.setPen(palette.faint);
  painter.drawText(QRectF(8, 0, name_width - 8, strip_height), Qt::AlignVCenter | Qt::AlignLeft, tr("all stages"));
}

void Minimap::centre_at(double x) {
  const QRectF area = strip();
  TimeWindow window = window_;
  window.show((x - area.left()) / area.width() * window_.whole() - window_.length() / 2, window_.length());
  show_window(window);
  Q_EMIT window_changed(window);
}

void Minimap::mousePressEvent(QMouseEvent* event) { centre_at(event->position().x()); }
void Minimap::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons().testFlag(Qt::LeftButton)) centre_at(event->position().x());
}

void Minimap::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) cache_ = {};
  QWidget::changeEvent(event);
}

}  // namespace plumbline::gui
