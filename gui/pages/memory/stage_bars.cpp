#include "gui/pages/memory/stage_bars.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/pages/shared/memory_axis.h"
#include "gui/widgets/focus_frame.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {
namespace {

constexpr int left_margin = 70;
constexpr int top_margin = 12;
constexpr int bottom_margin = 24;
constexpr double widest_bar = 64;
constexpr double axis_marks = 6;
constexpr double above = 1.12;  // room for words on what the device has not

QString gib(Bytes amount) { return QString::fromStdString(present::gib_text(amount)); }

}  // namespace

StageBars::StageBars(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(240, 160);
  setAccessibleName(tr("Memory of a rank of each pipeline stage"));
}

void StageBars::show_data(SharedMemory memory) {
  const bool is_other = !memory || !memory_ || memory->stages() != memory_->stages();
  memory_ = std::move(memory);
  if (memory_ && is_other) stage_ = static_cast<std::size_t>(memory_->plan.prediction.heaviest_stage);
  QStringList words;
  for (std::size_t stage = 0; memory_ && stage < memory_->stages(); ++stage)
    words.append(
        tr("stage %1: %2 of %3 GiB")
            .arg(stage)
            .arg(gib(memory_->plan.prediction.stage_memory[stage].device_total()), gib(memory_->capacity[stage])));
  setAccessibleDescription(words.join("; "));
  update();
}

void StageBars::choose(std::size_t stage) {
  if (!memory_ || stage >= memory_->stages()) return;
  stage_ = stage;
  update();
  Q_EMIT stage_chosen(stage);
}

Bytes StageBars::highest() const {
  Bytes held(1);
  for (const MemoryBreakdown& stage : memory_->plan.prediction.stage_memory)
    held = std::max(held, stage.device_total());
  return memory_axis_end(held, *std::max_element(memory_->device_memory.begin(), memory_->device_memory.end()));
}

double StageBars::y_of(Bytes amount) const {
  const double plot = height() - top_margin - bottom_margin;
  return height() - bottom_margin - plot * (amount / highest()) / above;
}

double StageBars::slot_width() const {
  return static_cast<double>(width() - left_margin - 8) / static_cast<double>(memory_->stages());
}

QRectF StageBars::bar(std::size_t stage) const {
  const double slot = slot_width();
  const double wide = std::min(widest_bar, slot > 4 ? slot * 0.8 : slot);
  const double left = left_margin + slot * (static_cast<double>(stage) + 0.5) - wide / 2;
  const double top = y_of(memory_->plan.prediction.stage_memory[stage].device_total());
  return {left, top, wide, height() - bottom_margin - top};
}

void StageBars::mousePressEvent(QMouseEvent* event) {
  if (!memory_ || event->position().x() < left_margin) return;
  choose(
      std::min(memory_->stages() - 1, static_cast<std::size_t>((event->position().x() - left_margin) / slot_width())));
}

void StageBars::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left: return choose(stage_ > 0 ? stage_ - 1 : 0);
    case Qt::Key_Right: return choose(stage_ + 1);
    default: QWidget::keyPressEvent(event);
  }
}

bool StageBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || !memory_) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  for (std::size_t stage = 0; stage < memory_->stages(); ++stage) {
    const QRectF area = bar(stage);
    if (help->pos().x() < area.left() || help->pos().x() > area.right()) continue;
    const Bytes held = memory_->plan.prediction.stage_memory[stage].device_total();
    QToolTip::showText(help->globalPos(),
                       tr("stage %1: %2 of %3 GiB").arg(stage).arg(gib(held), gib(memory_->capacity[stage])), this);
  }
  return true;
}

void StageBars::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Palette& palette = palette_of(*this);
  painter.fillRect(rect(), palette.card);
  if (!memory_) return;
  paint_axis(painter, palette);
  for (std::size_t stage = 0; stage < memory_->stages(); ++stage) {
    paint_capacity(painter, stage, palette);
    paint_bar(painter, stage, palette);
  }
  paint_capacity_words(painter, palette);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(palette.text, 1.5));
  painter.drawRect(bar(stage_).adjusted(-2, -2, 2, 1));
  paint_focus_frame(painter, *this);
}

void StageBars::paint_axis(QPainter& painter, const Palette& palette) const {
  for (const MemoryMark& mark : memory_marks(highest(), axis_marks)) {
    const double y = y_of(mark.at);
    painter.setPen(palette.grid);
    painter.drawLine(QLineF(left_margin, y, width() - 8, y));
    painter.setPen(palette.faint);
    painter.drawText(QRectF(0, y - 10, left_margin - 8, 20), Qt::AlignVCenter | Qt::AlignRight, mark.words);
  }
}

/// Beyond the capacity the device is taken: hatched up to its end is the headroom that was asked for.
void StageBars::paint_capacity(QPainter& painter, std::size_t stage, const Palette& palette) const {
  if (memory_->device_memory[stage] > highest()) return;
  const double left = left_margin + slot_width() * static_cast<double>(stage);
  const double y = y_of(memory_->capacity[stage]);
  const double end = y_of(memory_->device_memory[stage]);
  if (end < y) painter.fillRect(QRectF(left, end, slot_width(), y - end), QBrush(palette.refusal, Qt::BDiagPattern));
  painter.fillRect(QRectF(left, top_margin, slot_width(), end - top_margin), palette.refused);
  painter.setPen(QPen(palette.refusal, 1, Qt::DashLine));
  painter.drawLine(QLineF(left, y, left + slot_width(), y));
}

/// Of the stage on the right, whose line they end at.
void StageBars::paint_capacity_words(QPainter& painter, const Palette& palette) const {
  const Bytes usable = memory_->capacity.back();
  const Bytes headroom = memory_->device_memory.back() - usable;
  QString words = tr("a GPU holds %1 GiB").arg(gib(usable));
  if (headroom.value() > 0) words += tr(" without the headroom of %1").arg(gib(headroom));
  const bool is_seen = memory_->device_memory.back() <= highest();
  if (!is_seen) words += tr(", far above");
  const QFontMetricsF metrics(painter.font());
  words = metrics.elidedText(words, Qt::ElideRight, std::max(0, width() - left_margin - 24));
  const double wide = metrics.horizontalAdvance(words) + 8;
  const double line = is_seen ? y_of(memory_->device_memory.back()) : top_margin + metrics.height();
  const QRectF room(width() - 8 - wide, line - metrics.height() - 2, wide, metrics.height());
  painter.fillRect(room, is_seen ? palette.refused : palette.card);
  painter.setPen(palette.refusal);
  painter.drawText(room, Qt::AlignCenter, words);
}

void StageBars::paint_bar(QPainter& painter, std::size_t stage, const Palette& palette) const {
  const QRectF area = bar(stage);
  const MemoryBreakdown& memory = memory_->plan.prediction.stage_memory[stage];
  Bytes below(0);
  for (std::size_t c = 0; c < memory_class_count; ++c) {
    const double bottom = y_of(below);
    below += memory.by_class[c];
    painter.fillRect(QRectF(area.left(), y_of(below), area.width(), bottom - y_of(below)), palette.memory[c]);
  }
  const bool is_chosen = stage == stage_;
  const double needed = painter.fontMetrics().horizontalAdvance(QStringLiteral("0000"));
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(needed / slot_width())));
  if (!is_chosen && (stage % every != 0 || (stage > stage_ ? stage - stage_ : stage_ - stage) < every)) return;
  painter.setPen(is_chosen ? palette.text : palette.faint);
  painter.drawText(QRectF(area.center().x() - 40, height() - bottom_margin + 3, 80, bottom_margin - 3),
                   Qt::AlignHCenter | Qt::AlignTop,
                   memory_->stages() <= 10 ? tr("stage %1").arg(stage) : QString::number(stage));
}

}  // namespace plumbline::gui
