#include "gui/pages/timeline/memory_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "core/quantity/text.h"
#include "gui/pages/shared/memory_axis.h"
#include "gui/pages/timeline/memory_columns.h"
#include "gui/widgets/focus_frame.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {
namespace {

constexpr int top_margin = 36;  ///< a line for the peak, one for the capacity
constexpr int label_height = 18;
constexpr int bottom_margin = 6;
constexpr double near_the_peak = 8;  ///< pixels
constexpr double headroom = 1.04;
constexpr double axis_marks = 5;

}  // namespace

MemoryView::MemoryView(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(240, 110);
  setAccessibleName(tr("Memory of the chosen stage"));
}

void MemoryView::show_picture(std::optional<MemoryPicture> picture) {
  picture_ = std::move(picture);
  sample_ = picture_ ? picture_->track.peak : 0;
  setAccessibleDescription(picture_ ? tr("%1 at the peak, of %2")
                                          .arg(QString::fromStdString(to_text(picture_->peak)),
                                               QString::fromStdString(to_text(picture_->capacity)))
                                    : QString());
  update();
}

void MemoryView::show_window(const TimeWindow& window) {
  window_ = window;
  update();
}

void MemoryView::show_sample(std::size_t sample) {
  sample_ = sample;
  update();
}

Bytes MemoryView::highest() const { return memory_axis_end(picture_->peak, picture_->capacity); }

double MemoryView::y_of(Bytes amount) const {
  const double plot = height() - top_margin - bottom_margin;
  return height() - bottom_margin - plot * (amount / highest()) / headroom;
}

QPointF MemoryView::peak_position() const {
  const MemorySample& peak = picture_->track.samples[picture_->track.peak];
  return {scale().x_of(static_cast<double>(peak.at.value())), y_of(peak.memory.device_total())};
}

void MemoryView::choose(std::size_t sample) {
  show_sample(sample);
  Q_EMIT sample_chosen(sample);
}

void MemoryView::mousePressEvent(QMouseEvent* event) {
  if (!picture_ || event->position().x() < name_width) return;
  const QPointF away = event->position() - peak_position();
  if (away.manhattanLength() <= near_the_peak) return choose(picture_->track.peak);
  choose(sample_at(picture_->track, scale().time_at(event->position().x())));
}

void MemoryView::keyPressEvent(QKeyEvent* event) {
  if (!picture_) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_P: return choose(picture_->track.peak);
    case Qt::Key_Left: return choose(sample_ > 0 ? sample_ - 1 : 0);
    case Qt::Key_Right: return choose(std::min(sample_ + 1, picture_->track.samples.size() - 1));
    default: QWidget::keyPressEvent(event);
  }
}

void MemoryView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Palette& palette = palette_of(*this);
  painter.fillRect(rect(), palette.card);
  if (!picture_) return;
  paint_axis(painter, palette);
  paint_classes(painter, palette);
  paint_capacity(painter, palette);
  paint_peak(painter, palette);
  paint_focus_frame(painter, *this);
}

void MemoryView::paint_axis(QPainter& painter, const Palette& palette) const {
  const TimeScale across = scale();
  for (const MemoryMark& mark : memory_marks(highest(), axis_marks)) {
    const double y = y_of(mark.at);
    painter.setPen(palette.grid);
    painter.drawLine(QLineF(across.left, y, across.right, y));
    painter.setPen(palette.faint);
    painter.drawText(QRectF(0, y - 10, name_width - 8, 20), Qt::AlignVCenter | Qt::AlignRight, mark.words);
  }
}

void MemoryView::paint_classes(QPainter& painter, const Palette& palette) const {
  const TimeScale across = scale();
  const auto columns = static_cast<std::size_t>(across.right - across.left);
  const std::vector<std::size_t> most = memory_columns(picture_->track, window_, columns);
  // Neighbouring columns of one sample are one box.
  for (std::size_t first = 0; first < columns;) {
    std::size_t last = first;
    while (last < columns && most[last] == most[first]) ++last;
    const MemoryBreakdown& memory = picture_->track.samples[most[first]].memory;
    Bytes below(0);
    for (std::size_t c = 0; c < memory_class_count; ++c) {
      if (memory.by_class[c] == Bytes(0)) continue;
      const double bottom = y_of(below);
      below += memory.by_class[c];
      painter.fillRect(QRectF(across.left + static_cast<double>(first), y_of(below), static_cast<double>(last - first),
                              bottom - y_of(below)),
                       palette.memory[c]);
    }
    first = last;
  }
}

void MemoryView::paint_capacity(QPainter& painter, const Palette& palette) const {
  const TimeScale across = scale();
  const bool is_seen = picture_->capacity <= highest();
  const double y = is_seen ? y_of(picture_->capacity) : top_margin;
  if (is_seen) {
    painter.setPen(QPen(palette.refusal, 1, Qt::DashLine));
    painter.drawLine(QLineF(across.left, y, across.right, y));
  }
  QString words = tr("usable %1 GiB").arg(QString::fromStdString(present::gib_text(picture_->capacity)));
  if (!is_seen) words += tr(", far above");
  const int width = painter.fontMetrics().horizontalAdvance(words) + 8;
  const QRectF place(across.right - width, y - 19, width, 18);
  painter.fillRect(place, palette.card);
  painter.setPen(palette.refusal);
  painter.drawText(place, Qt::AlignCenter, words);
}

void MemoryView::paint_peak(QPainter& painter, const Palette& palette) const {
  const TimeScale across = scale();
  const auto now = static_cast<double>(picture_->track.samples[sample_].at.value());
  if (now >= window_.begin() && now <= window_.end()) {
    painter.setPen(QPen(palette.refusal, 1.5, Qt::DashLine));
    painter.drawLine(QLineF(across.x_of(now), label_height, across.x_of(now), height()));
  }
  const QPointF at = peak_position();
  if (at.x() < across.left - 1 || at.x() > across.right + 1) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(palette.card, 1.5));
  painter.setBrush(palette.refusal);
  painter.drawEllipse(at, 5, 5);
  const QString words = tr("peak %1 GiB, %2 of it lost by the allocator")
                            .arg(QString::fromStdString(present::gib_text(picture_->peak, 2)),
                                 QString::fromStdString(present::gib_text(picture_->lost, 2)));
  const double width = painter.fontMetrics().horizontalAdvance(words);
  const double left = std::clamp(at.x() - width / 2, across.left, std::max(across.left, across.right - width));
  painter.setPen(palette.text);
  painter.drawText(QPointF(left, painter.fontMetrics().ascent()), words);
}

}  // namespace plumbline::gui
