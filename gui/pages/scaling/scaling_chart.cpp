#include "gui/pages/scaling/scaling_chart.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/io/svg.h"
#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {
namespace {

constexpr int left_margin = 62;
constexpr int top_margin = 30;
constexpr int right_margin = 18;
constexpr int bottom_margin = 38;
constexpr double axis_marks = 5;
constexpr double above = 1.08;
constexpr double mark_radius = 4;
constexpr double near = 10;  ///< pixels

QString title_of(ScalingFigure figure) {
  switch (figure) {
    case ScalingFigure::days: return ScalingChart::tr("Days of the run");
    case ScalingFigure::dollars: return ScalingChart::tr("Cost of the run, $");
    case ScalingFigure::efficiency: return ScalingChart::tr("Efficiency, % of the best shown");
  }
  return {};
}

}  // namespace

QColor colour_of(LineLook look, const Palette& palette) {
  return look == LineLook::whole ? palette.accent : palette.text;
}

ScalingChart::ScalingChart(ScalingFigure figure, QWidget* parent)
    : QWidget(parent), figure_(figure), title_(title_of(figure)) {
  setMinimumSize(200, 180);
  setAccessibleName(tr("%1 over the number of GPUs").arg(title_));
}

void ScalingChart::show_lines(std::vector<ScalingLine> lines, const QString& why_empty, double limit) {
  lines_ = std::move(lines);
  limit_ = limit;
  why_empty_ = why_empty;
  QStringList words;
  for (const ScalingLine& line : lines_)
    for (const ScalingPoint& point : line.points)
      words.append(tr("%1, %2 GPUs: %3")
                       .arg(QString::fromStdString(line.name))
                       .arg(point.devices)
                       .arg(value_words(point.expected)));
  if (limit_ > 0) words.prepend(tr("limit: %1").arg(value_words(limit_)));
  setAccessibleDescription(words.join(QStringLiteral("; ")));
  update();
}

std::optional<ScalingChart::Axes> ScalingChart::axes() const {
  if (lines_.empty()) return std::nullopt;
  Axes axes{QRectF(rect()).adjusted(left_margin, top_margin, -right_margin, -bottom_margin),
            lines_.front().points.front().devices, lines_.front().points.front().devices, 0};
  for (const ScalingLine& line : lines_)
    for (const ScalingPoint& point : line.points) {
      axes.least_devices = std::min(axes.least_devices, point.devices);
      axes.most_devices = std::max(axes.most_devices, point.devices);
      axes.most = std::max(axes.most, point.high);
    }
  constexpr double far = 4;  // a limit beyond that would flatten the curves: words say it
  if (limit_ > axes.most && limit_ < far * axes.most) axes.most = limit_;
  if (axes.most <= 0) axes.most = 1;
  return axes;
}

QPointF ScalingChart::place(const Axes& axes, double devices, double value) const {
  const double range = std::log2(axes.most_devices / axes.least_devices);
  const double across = range > 0 ? std::log2(devices / axes.least_devices) / range : 0.5;
  return {axes.plot.left() + across * axes.plot.width(),
          axes.plot.bottom() - value / (axes.most * above) * axes.plot.height()};
}

QString ScalingChart::value_words(double value) const {
  switch (figure_) {
    case ScalingFigure::days: return tr("%1 days").arg(value, 0, 'f', value < 10 ? 2 : 1);
    case ScalingFigure::dollars: return QString::fromStdString(present::dollars_text(value));
    case ScalingFigure::efficiency: return QString::number(value, 'f', 1) + " %";
  }
  return {};
}

void ScalingChart::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& palette = palette_of(*this);
  painter.fillRect(rect(), palette.card);
  painter.setPen(palette.text);
  painter.drawText(QRectF(8, 4, width() - 16, top_margin - 8), Qt::AlignLeft | Qt::AlignVCenter, title_);
  const auto shown = axes();
  if (!shown) {
    painter.setPen(palette.faint);
    painter.drawText(rect(), Qt::AlignCenter, why_empty_);
    return;
  }
  paint_axes(painter, *shown, palette);
  if (limit_ > 0) paint_limit(painter, *shown, palette);
  for (const ScalingLine& line : lines_) paint_line(painter, *shown, line, palette);
}

void ScalingChart::paint_axes(QPainter& painter, const Axes& axes, const Palette& palette) const {
  const double distance = mark_distance(axes.most * 12 / axis_marks);
  for (int i = 0; i * distance <= axes.most * above; ++i) {
    const double y = place(axes, axes.least_devices, i * distance).y();
    painter.setPen(palette.grid);
    painter.drawLine(QLineF(axes.plot.left(), y, axes.plot.right(), y));
    painter.setPen(palette.faint);
    const double value = i * distance;
    const QString words = value >= 10'000 ? QString::fromStdString(count_text(std::llround(value)))
                                          : QString::number(value, 'f', mark_digits(distance));
    painter.drawText(QRectF(0, y - 10, left_margin - 8, 20), Qt::AlignVCenter | Qt::AlignRight, words);
  }
  double last = -1e9;
  std::vector<double> marks;
  for (const ScalingLine& line : lines_)
    for (const ScalingPoint& point : line.points) marks.push_back(point.devices);
  std::sort(marks.begin(), marks.end());
  for (const double devices : marks) {
    const double x = place(axes, devices, 0).x();
    const QString words = QString::number(devices);
    const double wide = painter.fontMetrics().horizontalAdvance(words);
    if (x - wide / 2 < last + 8) continue;
    last = x + wide / 2;
    painter.drawText(QPointF(x - wide / 2, axes.plot.bottom() + 15), words);
  }
  painter.drawText(QRectF(axes.plot.left(), height() - 20, axes.plot.width(), 18), Qt::AlignCenter, tr("GPUs"));
}

/// Draws the limit as a dashed line, or as an arrow at the upper edge where it lies above the plot.
void ScalingChart::paint_limit(QPainter& painter, const Axes& axes, const Palette& palette) const {
  const double y = place(axes, axes.least_devices, limit_).y();
  const bool is_above = y < axes.plot.top();
  painter.setPen(QPen(palette.refusal, 1.5, Qt::DashLine));
  if (!is_above) painter.drawLine(QLineF(axes.plot.left(), y, axes.plot.right(), y));
  const double line = painter.fontMetrics().height();
  const double top = is_above || y - line < axes.plot.top() ? std::max(y, axes.plot.top()) + 2 : y - line - 1;
  painter.setPen(palette.refusal);
  painter.drawText(QRectF(axes.plot.left(), top, axes.plot.width() - 4, line), Qt::AlignRight,
                   (is_above ? QStringLiteral("\u2191 ") : QString()) + tr("at most %1").arg(value_words(limit_)));
}

void ScalingChart::paint_line(QPainter& painter, const Axes& axes, const ScalingLine& line,
                              const Palette& palette) const {
  const QColor colour = colour_of(line.look, palette);
  const bool is_whole = line.look == LineLook::whole;
  QPainterPath path;
  for (const ScalingPoint& point : line.points) {
    const QPointF at = place(axes, point.devices, point.expected);
    if (path.elementCount() == 0) path.moveTo(at);
    path.lineTo(at);
    painter.setPen(QPen(colour, 1));
    painter.drawLine(place(axes, point.devices, point.low), place(axes, point.devices, point.high));
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(colour, 2, is_whole ? Qt::SolidLine : Qt::DashLine));
  painter.drawPath(path);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  for (const ScalingPoint& point : line.points) {
    const QPointF at = place(axes, point.devices, point.expected);
    if (is_whole) painter.drawEllipse(at, mark_radius, mark_radius);
    if (!is_whole) painter.drawRect(QRectF(at.x() - 3.5, at.y() - 3.5, 7, 7));
  }
}

bool ScalingChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QString words;
  if (const auto shown = axes())
    for (const ScalingLine& line : lines_)
      for (const ScalingPoint& point : line.points)
        if ((place(*shown, point.devices, point.expected) - help->pos()).manhattanLength() < near)
          words = tr("%1 GPUs: %2").arg(point.devices).arg(value_words(point.expected));
  QToolTip::showText(help->globalPos(), words, this);
  return true;
}

}  // namespace plumbline::gui
