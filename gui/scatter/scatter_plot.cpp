#include "gui/scatter/scatter_plot.h"

#include <QEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "gui/palette.h"

namespace plumbline::gui {
namespace {

constexpr double radius = 3.5, reach = 12;
constexpr std::size_t painted_one_by_one = 2000;  // more are copies of one picture, which is eight times as fast
constexpr int ticks_across = 8, ticks_up = 5;

QColor point_colour(const Palette& palette, bool is_tied) {
  QColor colour = is_tied ? palette.accent : palette.faint;
  constexpr float of_tied = 1, of_others = 0.4F;
  colour.setAlphaF(is_tied ? of_tied : of_others);
  return colour;
}

QPixmap dot(const QColor& colour, qreal ratio) {
  const int side = static_cast<int>(2 * radius + 2);
  QPixmap pixmap(QSize(side, side) * ratio);
  pixmap.setDevicePixelRatio(ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  painter.drawEllipse(QPointF(side / 2., side / 2.), radius, radius);
  return pixmap;
}

}  // namespace

ScatterPlot::ScatterPlot(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Step time against peak memory"));
  setAccessibleDescription(tr("Left and right go through the plans from the fastest on, Return chooses one"));
}

void ScatterPlot::set_picture(ScatterPicture picture) {
  picture_ = std::move(picture);
  hovered_ = -1;
  chosen_.clear();
  lay_out();
  update();
}

void ScatterPlot::set_hovered(int point) {
  if (point == hovered_) return;
  hovered_ = point;
  update();
}

void ScatterPlot::set_chosen(std::vector<int> points) {
  chosen_ = std::move(points);
  update();
}

QPointF ScatterPlot::place_of(int point) const { return grid_.points()[static_cast<std::size_t>(point)]; }

void ScatterPlot::lay_out() {
  const QFontMetricsF metrics(font());
  const double left = metrics.horizontalAdvance("0000.0 s") + 10, below = metrics.height() + 8;
  plot_ = QRectF(left, 8, std::max(1., width() - left - 16), std::max(1., height() - 8 - below));
  double least_memory = 0, most_memory = 1, least_step = 0, most_step = 1;
  bool is_first = true;
  for (const ScatterPoint& point : picture_.points) {
    least_memory = is_first ? point.memory_gib : std::min(least_memory, point.memory_gib);
    most_memory = is_first ? point.memory_gib : std::max(most_memory, point.memory_gib);
    least_step = is_first ? point.step_s : std::min(least_step, point.step_s);
    most_step = is_first ? point.step_s : std::max(most_step, point.step_s);
    is_first = false;
  }
  const bool shows_capacity = picture_.capacity_gib > 0 && most_memory > picture_.capacity_gib / 2;
  if (shows_capacity) most_memory = std::max(most_memory, picture_.capacity_gib);
  memory_ = AxisScale(least_memory, most_memory, plot_.left(), plot_.right());
  step_ = AxisScale(least_step, most_step, plot_.bottom(), plot_.top());
  std::vector<QPointF> places;
  places.reserve(picture_.points.size());
  for (const ScatterPoint& point : picture_.points)
    places.emplace_back(memory_.pixel(point.memory_gib), step_.pixel(point.step_s));
  grid_ = PointGrid(std::move(places));
  cache_ = QPixmap();
}

void ScatterPlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  lay_out();
}

void ScatterPlot::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) lay_out();
  if (event->type() == QEvent::PaletteChange) cache_ = QPixmap();
}

void ScatterPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paint_frame(painter);
  if (picture_.points.empty()) return;
  paint_capacity(painter);
  if (picture_.points.size() <= painted_one_by_one) {
    paint_points(painter);
  } else {
    if (cache_.isNull()) {
      cache_ = QPixmap(size() * devicePixelRatioF());
      cache_.setDevicePixelRatio(devicePixelRatioF());
      cache_.fill(Qt::transparent);
      QPainter inside(&cache_);
      paint_points(inside);
    }
    painter.drawPixmap(0, 0, cache_);
  }
  paint_front(painter);
  for (const int point : chosen_) paint_marked(painter, point, true);
  if (hovered_ >= 0) paint_marked(painter, hovered_, false);
  if (hovered_ >= 0) paint_words(painter, hovered_);
}

void ScatterPlot::paint_frame(QPainter& painter) const {
  const Palette& palette = palette_of(*this);
  const QFontMetricsF metrics(font());
  for (const double tick : step_.ticks(ticks_up)) {
    const double y = step_.pixel(tick);
    painter.setPen(palette.grid);
    painter.drawLine(QPointF(plot_.left(), y), QPointF(plot_.right(), y));
    if (picture_.points.empty()) continue;
    painter.setPen(palette.faint);
    painter.drawText(QRectF(0, y - metrics.height() / 2, plot_.left() - 8, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QString::number(tick, 'f', step_.digits(ticks_up)) + " s");
  }
  painter.setPen(palette.border);
  painter.drawLine(plot_.bottomLeft(), plot_.bottomRight());
  painter.drawLine(plot_.bottomLeft(), plot_.topLeft());
  if (picture_.points.empty()) return;
  painter.setPen(palette.faint);
  const double room = metrics.horizontalAdvance("000.00 GiB") + 8;
  for (const double tick : memory_.ticks(ticks_across)) {
    const QRectF place(memory_.pixel(tick) - room / 2, plot_.bottom() + 6, room, metrics.height());
    if (place.right() > width() || place.left() < 0) continue;
    painter.drawText(place, Qt::AlignCenter, QString::number(tick, 'f', memory_.digits(ticks_across)) + " GiB");
  }
}

void ScatterPlot::paint_capacity(QPainter& painter) const {
  const double x = memory_.pixel(picture_.capacity_gib);
  if (picture_.capacity_gib <= 0 || x > plot_.right()) return;
  const Palette& palette = palette_of(*this);
  painter.fillRect(QRectF(x, plot_.top(), plot_.right() - x, plot_.height()), palette.refused);
  painter.setPen(QPen(palette.refusal, 1.5, Qt::DashLine));
  painter.drawLine(QPointF(x, plot_.top()), QPointF(x, plot_.bottom()));
  painter.setPen(palette.refusal);
  painter.drawText(QRectF(plot_.left(), plot_.top(), x - plot_.left() - 6, QFontMetricsF(font()).height()),
                   Qt::AlignRight, tr("a GPU holds %1 GiB").arg(picture_.capacity_gib, 0, 'f', 1));
}

void ScatterPlot::paint_points(QPainter& painter) const {
  const Palette& palette = palette_of(*this);
  painter.setPen(Qt::NoPen);
  for (const bool is_tied : {false, true}) {  // the best on top
    const QColor colour = point_colour(palette, is_tied);
    std::vector<QPainter::PixmapFragment> fragments;
    const QPixmap picture = dot(colour, devicePixelRatioF());
    painter.setBrush(colour);
    for (std::size_t i = 0; i < picture_.points.size(); ++i) {
      if (picture_.points[i].is_tied != is_tied) continue;
      if (picture_.points.size() <= painted_one_by_one)
        painter.drawEllipse(grid_.points()[i], radius, radius);
      else
        fragments.push_back(QPainter::PixmapFragment::create(grid_.points()[i], QRectF(picture.rect()),
                                                             1 / devicePixelRatioF(), 1 / devicePixelRatioF()));
    }
    painter.drawPixmapFragments(fragments.data(), static_cast<int>(fragments.size()), picture);
  }
}

void ScatterPlot::paint_front(QPainter& painter) const {
  QPolygonF line;
  for (const QPointF& point : picture_.front) line.append({memory_.pixel(point.x()), step_.pixel(point.y())});
  painter.save();
  painter.setClipRect(plot_);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(palette_of(*this).text, 1.5));
  painter.drawPolyline(line);
  painter.restore();
}

void ScatterPlot::paint_marked(QPainter& painter, int point, bool is_chosen) const {
  const Palette& palette = palette_of(*this);
  const ScatterPoint& of = picture_.points[static_cast<std::size_t>(point)];
  const QPointF at = place_of(point);
  painter.save();
  painter.setClipRect(plot_.adjusted(-radius, -radius, radius, radius));
  painter.setPen(QPen(palette.faint, 1.2));
  painter.drawLine(QPointF(at.x(), step_.pixel(of.low_s)), QPointF(at.x(), step_.pixel(of.high_s)));
  painter.setPen(QPen(palette.text, 1.2));
  painter.setBrush(is_chosen ? palette.chosen : palette.card);
  painter.drawEllipse(at, radius + 2.5, radius + 2.5);
  painter.restore();
}

void ScatterPlot::paint_words(QPainter& painter, int point) const {
  const Palette& palette = palette_of(*this);
  const QFontMetricsF metrics(font());
  constexpr double room = 8;
  const QString& words = picture_.points[static_cast<std::size_t>(point)].words;
  QRectF text = metrics.boundingRect(QRectF(0, 0, plot_.width(), plot_.height()), Qt::AlignLeft, words);
  QRectF box(0, 0, text.width() + 2 * room, text.height() + 2 * room);
  const QPointF at = place_of(point);
  box.moveTopLeft(at + QPointF(14, -box.height() - 8));
  if (box.right() > plot_.right()) box.moveRight(at.x() - 14);
  if (box.left() < plot_.left()) box.moveLeft(plot_.left());
  if (box.top() < plot_.top()) box.moveTop(std::min(at.y() + 12, plot_.bottom() - box.height()));
  painter.setPen(palette.border);
  painter.setBrush(palette.card);
  painter.drawRoundedRect(box, 4, 4);
  painter.setPen(palette.text);
  painter.drawText(box.adjusted(room, room, -room + 1, -room + 1), Qt::AlignLeft, words);
}

void ScatterPlot::hover(int point) {
  if (point == hovered_) return;
  set_hovered(point);
  Q_EMIT hovered_changed(point);
}

void ScatterPlot::mouseMoveEvent(QMouseEvent* event) { hover(grid_.nearest(event->position(), reach)); }

void ScatterPlot::leaveEvent(QEvent*) { hover(-1); }

void ScatterPlot::mousePressEvent(QMouseEvent* event) {
  const int point = grid_.nearest(event->position(), reach);
  if (point >= 0 && event->button() == Qt::LeftButton)
    Q_EMIT clicked(point, (event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier)) != 0);
}

void ScatterPlot::keyPressEvent(QKeyEvent* event) {
  const int count = static_cast<int>(picture_.points.size());
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (count > 0 && step != 0) {
    hover(std::clamp(hovered_ + step, 0, count - 1));
  } else if (hovered_ >= 0 && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Space)) {
    Q_EMIT clicked(hovered_, (event->modifiers() & Qt::ControlModifier) != 0);
  } else {
    QWidget::keyPressEvent(event);
  }
}

}  // namespace plumbline::gui
