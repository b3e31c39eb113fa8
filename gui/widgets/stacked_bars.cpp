#include "gui/widgets/stacked_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

namespace plumbline::gui {
namespace {

constexpr double gap = 8;

double total_of(const Bar& bar) {
  double total = 0;
  for (const BarPart& part : bar.parts) total += part.value;
  return total;
}

}  // namespace

StackedBars::StackedBars(const QString& unit, QWidget* parent) : QWidget(parent), unit_(unit) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void StackedBars::set_bars(std::vector<Bar> bars) {
  bars_ = std::move(bars);
  QStringList words;
  for (const Bar& bar : bars_)
    words.append(QString("%1: %2 %3").arg(bar.name).arg(total_of(bar), 0, 'f', 2).arg(unit_));
  setAccessibleDescription(words.join("; "));
  updateGeometry();
  update();
}

double StackedBars::bar_height() const { return QFontMetricsF(font()).height() + 8; }

double StackedBars::left() const {
  double widest = 0;
  for (const Bar& bar : bars_) widest = std::max(widest, QFontMetricsF(font()).horizontalAdvance(bar.name));
  return widest + 10;
}

double StackedBars::scale() const {
  double most = 0;
  for (const Bar& bar : bars_) {
    const double total = total_of(bar);
    most = std::max(most, bar.limit > 0 && total > bar.limit / 2 ? std::max(total, bar.limit) : total);
  }
  const double room = QFontMetricsF(font()).horizontalAdvance("00000.00 " + unit_) + 12;
  return most > 0 ? std::max(1., width() - left() - room) / most : 0;
}

QSize StackedBars::sizeHint() const {
  const double lines = legend_lines() * (QFontMetricsF(font()).height() + 4);
  return {300, static_cast<int>(static_cast<double>(bars_.size()) * (bar_height() + gap) + lines + gap)};
}

void StackedBars::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  updateGeometry();
}

QRectF StackedBars::place_of(std::size_t bar, std::size_t part) const {
  double begin = 0;
  for (std::size_t i = 0; i < part; ++i) begin += bars_[bar].parts[i].value;
  return {left() + begin * scale(), static_cast<double>(bar) * (bar_height() + gap),
          bars_[bar].parts[part].value * scale(), bar_height()};
}

void StackedBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& palette = palette_of(*this);
  for (std::size_t i = 0; i < bars_.size(); ++i) {
    const double y = static_cast<double>(i) * (bar_height() + gap);
    painter.setPen(palette.text);
    painter.drawText(QRectF(0, y, left() - 8, bar_height()), Qt::AlignVCenter | Qt::AlignRight, bars_[i].name);
    for (std::size_t p = 0; p < bars_[i].parts.size(); ++p) {
      const BarPart& part = bars_[i].parts[p];
      painter.fillRect(place_of(i, p), part.colour(palette, part.kind));
    }
    const double end = left() + total_of(bars_[i]) * scale();
    const double limit = left() + bars_[i].limit * scale();
    const bool shows_limit = bars_[i].limit > 0 && limit < width();
    const double words = (shows_limit ? std::max(end, limit) : end) + 6;
    painter.drawText(QRectF(words, y, width() - words, bar_height()), Qt::AlignVCenter | Qt::AlignLeft,
                     QString::number(total_of(bars_[i]), 'f', 2) + " " + unit_);
    if (!shows_limit) continue;
    painter.setPen(QPen(palette.refusal, 1.5, Qt::DashLine));
    painter.drawLine(QPointF(limit, y - gap / 2), QPointF(limit, y + bar_height() + gap / 2));
  }
  paint_legend(&painter);
}

/// Each kind that any bar holds, once; lines are as many as the width asks for. Without a painter it is only measured.
double StackedBars::paint_legend(QPainter* painter) const {
  const QFontMetricsF metrics(font());
  const Palette& palette = palette_of(*this);
  const double line = metrics.height() + 4, side = metrics.height() - 4;
  double x = left(), y = static_cast<double>(bars_.size()) * (bar_height() + gap) + gap / 2;
  std::vector<int> seen;
  for (const Bar& bar : bars_)
    for (const BarPart& part : bar.parts) {
      if (part.value <= 0 || std::find(seen.begin(), seen.end(), part.kind) != seen.end()) continue;
      seen.push_back(part.kind);
      const double room = side + 5 + metrics.horizontalAdvance(part.name) + 14;
      if (x + room > width() && x > left()) {
        x = left();
        y += line;
      }
      if (painter != nullptr) {
        painter->fillRect(QRectF(x, y + 2, side, side), part.colour(palette, part.kind));
        painter->setPen(palette.faint);
        painter->drawText(QPointF(x + side + 5, y + metrics.ascent()), part.name);
      }
      x += room;
    }
  return y + line;
}

int StackedBars::legend_lines() const {
  const double begin = static_cast<double>(bars_.size()) * (bar_height() + gap) + gap / 2;
  return static_cast<int>((paint_legend(nullptr) - begin) / (QFontMetricsF(font()).height() + 4) + 0.5);
}

bool StackedBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  for (std::size_t i = 0; i < bars_.size(); ++i)
    for (std::size_t p = 0; p < bars_[i].parts.size(); ++p) {
      if (!place_of(i, p).contains(help->pos())) continue;
      const BarPart& part = bars_[i].parts[p];
      QToolTip::showText(help->globalPos(), QString("%1: %2 %3").arg(part.name).arg(part.value, 0, 'f', 3).arg(unit_),
                         this);
      return true;
    }
  QToolTip::hideText();
  return true;
}

}  // namespace plumbline::gui
