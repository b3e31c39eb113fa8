#include "gui/scatter/scatter_plot.h"

#include <QEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "gui/palette.h"
#include "gui/scatter/scatter_canvas.h"
#include "gui/widgets/focus_frame.h"

namespace plumbline::gui {
namespace {

constexpr double radius = 3.5, reach = 12;
constexpr std::size_t painted_one_by_one = 2000;  // more are copies of one picture, which is eight times as fast

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
  set_picture({});
}

void ScatterPlot::set_picture(ScatterPicture picture) {
  picture_ = std::move(picture);
  shade_ = PointShade(asked_shade_, picture_);
  hovered_ = -1;
  chosen_.clear();
  QString words;
  if (!picture_.points.empty())
    words = tr("%1 plans; the first: %2. ").arg(picture_.points.size()).arg(picture_.points.front().words);
  setAccessibleDescription(words + tr("Left and right go through the plans from the fastest on, Return chooses one"));
  lay_out();
  update();
}

void ScatterPlot::set_shade(Shade shade) {
  asked_shade_ = shade;
  shade_ = PointShade(shade, picture_);
  cache_ = QPixmap();
  update();
}

void ScatterPlot::set_intervals(Intervals intervals) {
  intervals_ = intervals;
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
    const bool is_all = intervals_ == Intervals::of_all;
    const double low = is_all ? point.low_s : point.step_s, high = is_all ? point.high_s : point.step_s;
    least_memory = is_first ? point.memory_gib : std::min(least_memory, point.memory_gib);
    most_memory = is_first ? point.memory_gib : std::max(most_memory, point.memory_gib);
    least_step = is_first ? low : std::min(least_step, low);
    most_step = is_first ? high : std::max(most_step, high);
    is_first = false;
  }
  // The front's fastest plan may be one that the ranking has no room for.
  const auto fastest = std::min_element(picture_.front.begin(), picture_.front.end(),
                                        [](const QPointF& one, const QPointF& other) { return one.y() < other.y(); });
  if (fastest != picture_.front.end() && !is_first) {
    least_step = std::min(least_step, fastest->y());
    least_memory = std::min(least_memory, fastest->x());
    most_memory = std::max(most_memory, fastest->x());
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
  const ScatterCanvas canvas{picture_, shade_, palette_of(*this), QFontMetricsF(font()), plot_, memory_,
                             step_,    width()};
  paint_frame(painter, canvas);
  paint_focus_frame(painter, *this);
  if (picture_.points.empty()) return;
  painter.setRenderHint(QPainter::Antialiasing);
  paint_capacity(painter, canvas);
  paint_limit(painter, canvas);
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
  paint_front(painter, canvas);
  paint_scale(painter, canvas);
  for (const int point : chosen_) paint_marked(painter, point, true);
  if (hovered_ >= 0) paint_marked(painter, hovered_, false);
  if (hovered_ >= 0) paint_words(painter, hovered_);
}

void ScatterPlot::paint_intervals(QPainter& painter) const {
  constexpr std::size_t most_intervals = 2000;  // more would cover the plot
  if (intervals_ != Intervals::of_all || picture_.points.size() > most_intervals) return;
  QColor colour = palette_of(*this).faint;
  constexpr float strength = 0.35F;
  colour.setAlphaF(strength);
  painter.setPen(QPen(colour, 1));
  std::vector<QLineF> lines;
  for (std::size_t i = 0; i < picture_.points.size(); ++i) {
    const double x = grid_.points()[i].x();
    lines.emplace_back(x, step_.pixel(picture_.points[i].low_s), x, step_.pixel(picture_.points[i].high_s));
  }
  painter.drawLines(lines.data(), static_cast<int>(lines.size()));
}

void ScatterPlot::paint_points(QPainter& painter) const {
  const Palette& palette = palette_of(*this);
  paint_intervals(painter);
  const bool is_one_by_one = picture_.points.size() <= painted_one_by_one;
  std::vector<std::vector<QPointF>> places(static_cast<std::size_t>(shade_.count()));
  for (std::size_t i = 0; i < picture_.points.size(); ++i)
    places[static_cast<std::size_t>(shade_.index_of(picture_.points[i]))].push_back(grid_.points()[i]);
  painter.setPen(Qt::NoPen);
  for (std::size_t index = 0; index < places.size(); ++index) {
    if (places[index].empty()) continue;
    const QColor colour = shade_.colour(static_cast<int>(index), palette);
    painter.setBrush(colour);
    if (is_one_by_one) {
      for (const QPointF& place : places[index]) painter.drawEllipse(place, radius, radius);
      continue;
    }
    const QPixmap picture = dot(colour, devicePixelRatioF());
    std::vector<QPainter::PixmapFragment> fragments;
    fragments.reserve(places[index].size());
    for (const QPointF& place : places[index])
      fragments.push_back(QPainter::PixmapFragment::create(place, QRectF(picture.rect()), 1 / devicePixelRatioF(),
                                                           1 / devicePixelRatioF()));
    painter.drawPixmapFragments(fragments.data(), static_cast<int>(fragments.size()), picture);
  }
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
