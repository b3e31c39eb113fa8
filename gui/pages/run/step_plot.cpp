#include "gui/pages/run/step_plot.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "core/quantity/text.h"
#include "gui/palette.h"
#include "gui/text.h"

namespace plumbline::gui {

StepPlot::StepPlot(StepFigure figure, QWidget* parent) : QWidget(parent), figure_(figure) {
  setAccessibleName(figure == StepFigure::loss ? tr("Loss of the run") : tr("Tokens a second of the run"));
}

double StepPlot::value_of(const RunLine& line) const {
  return figure_ == StepFigure::loss ? line.loss : line.tokens_per_second;
}

QString StepPlot::words_of(double value, int digits) const {
  return figure_ == StepFigure::loss ? QString::number(value, 'f', digits)
                                     : qt(grouped(static_cast<std::int64_t>(std::llround(value))));
}

void StepPlot::clear(std::int64_t steps) {
  planned_ = std::max<std::int64_t>(1, steps);
  lines_.clear();
  update();
}

void StepPlot::add(const RunLine& step) {
  lines_.push_back(step);
  setAccessibleDescription(tr("step %1: %2").arg(step.step).arg(words_of(value_of(step), 4)));
  update();
}

void StepPlot::paintEvent(QPaintEvent*) {
  const Palette& palette = palette_of(*this);
  const QFontMetricsF metrics(font());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool is_loss = figure_ == StepFigure::loss;
  const double left_edge = metrics.horizontalAdvance(is_loss ? "00.00" : "0 000 000") + 10;
  const double title = metrics.height() + 4;
  const QRectF plot(left_edge, 6 + title, width() - left_edge - 10, height() - title - metrics.height() - 16);
  painter.setPen(palette.faint);
  painter.drawText(QRectF(left_edge, 0, plot.width(), title), Qt::AlignLeft | Qt::AlignTop,
                   is_loss ? tr("loss; dots: held out") : tr("tokens/s"));
  painter.setPen(palette.border);
  painter.drawLine(plot.bottomLeft(), plot.bottomRight());
  painter.drawLine(plot.bottomLeft(), plot.topLeft());
  painter.setPen(palette.faint);
  painter.drawText(QRectF(plot.left(), plot.bottom() + 6, plot.width(), metrics.height()), Qt::AlignRight,
                   tr("step %1").arg(planned_));
  if (lines_.empty()) {
    painter.drawText(plot, Qt::AlignCenter, tr("no step yet"));
    return;
  }
  const AxisScale scale = scale_of(plot);
  paint_ticks(painter, plot, scale);
  paint_curve(painter, plot, scale);
}

/// Throughput has its zero in the picture, losses their range.
AxisScale StepPlot::scale_of(const QRectF& plot) const {
  const bool is_loss = figure_ == StepFigure::loss;
  double least = is_loss ? lines_.front().loss : 0, most = value_of(lines_.front());
  for (const RunLine& line : lines_) {
    least = std::min(least, value_of(line));
    most = std::max(most, value_of(line));
    if (is_loss && line.held_out_loss) {
      least = std::min(least, *line.held_out_loss);
      most = std::max(most, *line.held_out_loss);
    }
  }
  return {least, most, plot.bottom(), plot.top()};
}

void StepPlot::paint_ticks(QPainter& painter, const QRectF& plot, const AxisScale& scale) const {
  constexpr int ticks = 4;
  const Palette& palette = palette_of(*this);
  const QFontMetricsF metrics(font());
  for (const double tick : scale.ticks(ticks)) {
    painter.setPen(palette.grid);
    painter.drawLine(QPointF(plot.left(), scale.pixel(tick)), QPointF(plot.right(), scale.pixel(tick)));
    painter.setPen(palette.faint);
    painter.drawText(QRectF(0, scale.pixel(tick) - metrics.height() / 2, plot.left() - 8, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, words_of(tick, scale.digits(ticks)));
  }
}

void StepPlot::paint_curve(QPainter& painter, const QRectF& plot, const AxisScale& scale) const {
  const Palette& palette = palette_of(*this);
  const auto place = [&](const RunLine& line, double value) {
    return QPointF(plot.left() + plot.width() * static_cast<double>(line.step) / static_cast<double>(planned_),
                   scale.pixel(value));
  };
  QPolygonF curve;
  for (const RunLine& line : lines_) curve.append(place(line, value_of(line)));
  painter.setClipRect(plot.adjusted(-4, -4, 4, 4));
  painter.setPen(QPen(palette.accent, 1.8));
  painter.drawPolyline(curve);
  if (figure_ != StepFigure::loss) return;
  painter.setPen(Qt::NoPen);
  painter.setBrush(palette.text);
  for (const RunLine& line : lines_)
    if (line.held_out_loss) painter.drawEllipse(place(line, *line.held_out_loss), 4, 4);
}

}  // namespace plumbline::gui
