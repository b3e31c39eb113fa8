#include "gui/scatter/scatter_canvas.h"

#include <QObject>
#include <QPainter>
#include <QPolygonF>
#include <algorithm>

namespace plumbline::gui {
namespace {

constexpr int ticks_across = 8, ticks_up = 5;

}  // namespace

void paint_frame(QPainter& painter, const ScatterCanvas& canvas) {
  const Palette& palette = canvas.palette;
  const QFontMetricsF& metrics = canvas.metrics;
  for (const double tick : canvas.step.ticks(ticks_up)) {
    const double y = canvas.step.pixel(tick);
    painter.setPen(palette.grid);
    painter.drawLine(QPointF(canvas.plot.left(), y), QPointF(canvas.plot.right(), y));
    if (canvas.picture.points.empty()) continue;
    painter.setPen(palette.faint);
    painter.drawText(QRectF(0, y - metrics.height() / 2, canvas.plot.left() - 8, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(tick, 'f', canvas.step.digits(ticks_up)) + " s");
  }
  painter.setPen(palette.border);
  painter.drawLine(canvas.plot.bottomLeft(), canvas.plot.bottomRight());
  painter.drawLine(canvas.plot.bottomLeft(), canvas.plot.topLeft());
  if (canvas.picture.points.empty()) return;
  painter.setPen(palette.faint);
  const double room = metrics.horizontalAdvance("000.00 GiB") + 8;
  for (const double tick : canvas.memory.ticks(ticks_across)) {
    const QRectF place(canvas.memory.pixel(tick) - room / 2, canvas.plot.bottom() + 6, room, metrics.height());
    if (place.right() > canvas.width || place.left() < 0) continue;
    painter.drawText(place, Qt::AlignCenter, QString::number(tick, 'f', canvas.memory.digits(ticks_across)) + " GiB");
  }
}

void paint_capacity(QPainter& painter, const ScatterCanvas& canvas) {
  const double x = canvas.memory.pixel(canvas.picture.capacity_gib);
  if (canvas.picture.capacity_gib <= 0 || x > canvas.plot.right()) return;
  const Palette& palette = canvas.palette;
  painter.fillRect(QRectF(x, canvas.plot.top(), canvas.plot.right() - x, canvas.plot.height()), palette.refused);
  painter.setPen(QPen(palette.refusal, 1.5, Qt::DashLine));
  painter.drawLine(QPointF(x, canvas.plot.top()), QPointF(x, canvas.plot.bottom()));
  painter.setPen(palette.refusal);
  painter.drawText(QRectF(canvas.plot.left(), canvas.plot.top(), x - canvas.plot.left() - 6, canvas.metrics.height()),
                   Qt::AlignRight, QObject::tr("a GPU holds %1 GiB").arg(canvas.picture.capacity_gib, 0, 'f', 1));
}

namespace {

/// Where no plan that is shown keeps the limit, or all of them do, the line would lie outside: an arrow points to it.
void paint_limit_beyond(QPainter& painter, const ScatterCanvas& canvas) {
  const bool is_below = canvas.picture.limit_s < canvas.step.low();
  const double line = canvas.metrics.height(), side = line / 2;
  const double x = canvas.plot.left() + 10 + side / 2;
  const double tip = is_below ? canvas.plot.bottom() - 3 : canvas.plot.top() + 3;
  const double back = is_below ? tip - side : tip + side;
  painter.setPen(Qt::NoPen);
  painter.setBrush(canvas.palette.refusal);
  painter.drawPolygon(QPolygonF({{x, tip}, {x - side / 2, back}, {x + side / 2, back}}));
  painter.setPen(canvas.palette.refusal);
  const QString words =
      QObject::tr("%1: a step of %2 s").arg(canvas.picture.limit_words).arg(canvas.picture.limit_s, 0, 'g', 3);
  painter.drawText(QRectF(x + side, is_below ? canvas.plot.bottom() - line - 2 : canvas.plot.top() + 2,
                          canvas.plot.width() / 2, line),
                   Qt::AlignLeft, words);
}

}  // namespace

/// Above it the run breaks its deadline or its budget.
void paint_limit(QPainter& painter, const ScatterCanvas& canvas) {
  if (canvas.picture.limit_s <= 0) return;
  const Palette& palette = canvas.palette;
  const double limit = canvas.picture.limit_s;
  if (limit < canvas.step.low()) painter.fillRect(canvas.plot, palette.refused);
  if (limit < canvas.step.low() || limit > canvas.step.high()) return paint_limit_beyond(painter, canvas);
  const double y = canvas.step.pixel(limit);
  painter.fillRect(QRectF(canvas.plot.topLeft(), QPointF(canvas.plot.right(), y)), palette.refused);
  painter.setPen(QPen(palette.refusal, 1.5, Qt::DashLine));
  painter.drawLine(QPointF(canvas.plot.left(), y), QPointF(canvas.plot.right(), y));
  painter.setPen(palette.refusal);
  const double line = canvas.metrics.height();
  const double top = y - line - 2 < canvas.plot.top() ? y + 2 : y - line - 2;
  painter.drawText(QRectF(canvas.plot.left() + 6, top, canvas.plot.width() - 12, line), Qt::AlignLeft,
                   canvas.picture.limit_words);
}

void paint_front(QPainter& painter, const ScatterCanvas& canvas) {
  QPolygonF line;
  for (const QPointF& point : canvas.picture.front)
    line.append({canvas.memory.pixel(point.x()), canvas.step.pixel(point.y())});
  painter.save();
  painter.setClipRect(canvas.plot);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(canvas.palette.text, 1.5));
  painter.drawPolyline(line);
  constexpr double plan = 2.2;  // also of those that stand for others, or are too slow for the table
  for (const QPointF& point : line) painter.drawEllipse(point, plan, plan);
  painter.restore();
}

/// What the colours mean, in the corner where the slowest and largest plans would lie.
void paint_scale(QPainter& painter, const ScatterCanvas& canvas) {
  if (canvas.shade.shade() == Shade::noise) return;
  const Palette& palette = canvas.palette;
  const QFontMetricsF& metrics = canvas.metrics;
  constexpr double bar = 120, high = 10, room = 8;
  const double least = metrics.horizontalAdvance(canvas.shade.least_words()) + 6;
  const double most = metrics.horizontalAdvance(canvas.shade.most_words()) + 6;
  const double title = metrics.horizontalAdvance(canvas.shade.title()) + 10;
  QRectF box(0, 0, title + least + bar + most + 2 * room, metrics.height() + room);
  box.moveTopRight(canvas.plot.topRight() + QPointF(-4, 4));
  painter.setPen(palette.border);
  painter.setBrush(palette.card);
  painter.drawRoundedRect(box, 4, 4);
  const QRectF text = box.adjusted(room, 0, -room, 0);
  painter.setPen(palette.faint);
  painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, canvas.shade.title());
  painter.drawText(text.adjusted(title, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, canvas.shade.least_words());
  painter.drawText(text, Qt::AlignRight | Qt::AlignVCenter, canvas.shade.most_words());
  const double left = text.left() + title + least, step = bar / PointShade::steps;
  for (int i = 0; i < PointShade::steps; ++i)
    painter.fillRect(QRectF(left + i * step, box.center().y() - high / 2, step + 0.5, high),
                     canvas.shade.colour(PointShade::steps - 1 - i, palette));
}

}  // namespace plumbline::gui
