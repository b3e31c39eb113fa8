#include "gui/pages/run/loss_plot.h"

#include <QPainter>
#include <algorithm>

#include "gui/palette.h"
#include "gui/scatter/axis_scale.h"

namespace plumbline::gui {

LossPlot::LossPlot(QWidget* parent) : QWidget(parent) { setAccessibleName(tr("Loss of the run")); }

void LossPlot::clear(std::int64_t steps) {
  planned_ = std::max<std::int64_t>(1, steps);
  lines_.clear();
  update();
}

void LossPlot::add(const RunLine& step) {
  lines_.push_back(step);
  setAccessibleDescription(tr("step %1, loss %2").arg(step.step).arg(step.loss, 0, 'f', 4));
  update();
}

void LossPlot::paintEvent(QPaintEvent*) {
  constexpr int ticks = 4;
  const Palette& palette = palette_of(*this);
  const QFontMetricsF metrics(font());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double left_edge = metrics.horizontalAdvance("00.00") + 10;
  const QRectF plot(left_edge, 6, width() - left_edge - 10, height() - metrics.height() - 16);
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
  const auto [least, most] = std::minmax_element(lines_.begin(), lines_.end(),
                                                 [](const RunLine& a, const RunLine& b) { return a.loss < b.loss; });
  const AxisScale loss(least->loss, most->loss, plot.bottom(), plot.top());
  for (const double tick : loss.ticks(ticks)) {
    painter.setPen(palette.grid);
    painter.drawLine(QPointF(plot.left(), loss.pixel(tick)), QPointF(plot.right(), loss.pixel(tick)));
    painter.setPen(palette.faint);
    painter.drawText(QRectF(0, loss.pixel(tick) - metrics.height() / 2, plot.left() - 8, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QString::number(tick, 'f', loss.digits(ticks)));
  }
  const auto place = [&](const RunLine& line, double value) {
    return QPointF(plot.left() + plot.width() * static_cast<double>(line.step) / static_cast<double>(planned_),
                   loss.pixel(value));
  };
  QPolygonF curve;
  for (const RunLine& line : lines_) curve.append(place(line, line.loss));
  painter.setClipRect(plot.adjusted(-4, -4, 4, 4));
  painter.setPen(QPen(palette.of(Activity::forward), 1.8));
  painter.drawPolyline(curve);
  painter.setPen(Qt::NoPen);
  painter.setBrush(palette.of(Activity::backward));
  for (const RunLine& line : lines_)
    if (line.held_out_loss) painter.drawEllipse(place(line, *line.held_out_loss), 4, 4);
}

}  // namespace plumbline::gui
