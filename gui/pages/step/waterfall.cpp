#include "gui/pages/step/waterfall.h"

#include <QPainter>
#include <QStringList>
#include <algorithm>

#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {
namespace {

constexpr int name_room = 130;
constexpr int value_room = 150;
constexpr int least_row = 18;
constexpr int usual_row = 24;
constexpr double bar_gap = 3;

double seconds_of(Picoseconds time) { return to_seconds(time).value(); }
QString name_of(TimeCause cause) { return QString::fromStdString(present::words_of(to_text(cause))); }

}  // namespace

std::vector<WaterfallPart> waterfall_parts(const TimeBreakdown& time) {
  std::vector<WaterfallPart> parts;
  Picoseconds at(0);
  for (std::size_t c = 0; c < time_cause_count; ++c) {
    if (time.by_cause[c] == Picoseconds(0)) continue;
    parts.push_back({static_cast<TimeCause>(c), at, at + time.by_cause[c]});
    at += time.by_cause[c];
  }
  return parts;
}

Waterfall::Waterfall(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  setAccessibleName(tr("Time of a step by cause"));
}

void Waterfall::show_step(const TimeBreakdown& time, const Interval& seconds) {
  parts_ = waterfall_parts(time);
  seconds_ = seconds;
  QStringList words;
  for (const WaterfallPart& part : parts_)
    words.append(name_of(part.cause) + ' ' + QString::fromStdString(to_text(to_seconds(part.end - part.begin))));
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

void Waterfall::clear() {
  parts_.clear();
  setAccessibleDescription({});
  update();
}

QSize Waterfall::sizeHint() const { return {640, std::max(4, rows()) * usual_row + 8}; }
QSize Waterfall::minimumSizeHint() const { return {name_room + value_room + 120, std::max(4, rows()) * least_row + 8}; }

double Waterfall::x_of(double seconds) const {
  const double most = std::max(seconds_.high, seconds_of(parts_.back().end));
  const double room = std::max(1, width() - name_room - value_room);
  return name_room + seconds / most * room;
}

double Waterfall::row_height() const {
  return std::min<double>(usual_row + 8, static_cast<double>(height() - 8) / rows());
}

void Waterfall::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Palette& palette = palette_of(*this);
  painter.fillRect(rect(), palette.card);
  if (parts_.empty()) return;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const WaterfallPart& part = parts_[i];
    const int row = static_cast<int>(i);
    const double top = 4 + row_height() * row;
    const double left = x_of(seconds_of(part.begin));
    const QRectF bar(left, top + bar_gap, std::max(1.0, x_of(seconds_of(part.end)) - left), row_height() - 2 * bar_gap);
    painter.fillRect(bar, palette.of(part.cause));
    // To where the next one begins.
    painter.setPen(QPen(palette.faint, 1, Qt::DotLine));
    painter.drawLine(QLineF(bar.right(), bar.bottom(), bar.right(), bar.bottom() + 2 * bar_gap));
    paint_row(painter, row, name_of(part.cause), seconds_of(part.end - part.begin), palette);
  }
  paint_total(painter, palette);
}

void Waterfall::paint_row(QPainter& painter, int row, const QString& name, double seconds,
                          const Palette& palette) const {
  const double top = 4 + row_height() * row;
  painter.setPen(palette.text);
  painter.drawText(QRectF(0, top, name_room - 10, row_height()), Qt::AlignVCenter | Qt::AlignRight, name);
  const double total = seconds_of(parts_.back().end);
  const QString words = QString::fromStdString(to_text(Seconds(seconds))) + QStringLiteral("   ") +
                        QString::fromStdString(present::per_cent_text(total > 0 ? seconds / total : 0));
  painter.drawText(QRectF(width() - value_room + 10, top, value_room - 18, row_height()),
                   Qt::AlignVCenter | Qt::AlignRight, words);
}

/// The step, and the interval that nine of ten measurements should lie in.
void Waterfall::paint_total(QPainter& painter, const Palette& palette) const {
  const int row = static_cast<int>(parts_.size());
  const double top = 4 + row_height() * row;
  const double middle = top + row_height() / 2;
  painter.fillRect(
      QRectF(QPointF(x_of(0), top + bar_gap), QPointF(x_of(seconds_.expected), top + row_height() - bar_gap)),
      palette.accent);
  painter.setPen(QPen(palette.text, 1.5));
  painter.drawLine(QLineF(x_of(seconds_.low), middle, x_of(seconds_.high), middle));
  for (const double end : {seconds_.low, seconds_.high})
    painter.drawLine(QLineF(x_of(end), middle - 5, x_of(end), middle + 5));
  paint_row(painter, row, tr("step"), seconds_of(parts_.back().end), palette);
}

}  // namespace plumbline::gui
