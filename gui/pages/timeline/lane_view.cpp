#include "gui/pages/timeline/lane_view.h"

#include <QApplication>
#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/widgets/focus_frame.h"

namespace plumbline::gui {

LaneView::LaneView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(240, 120);
  setAccessibleName(tr("Timeline of the stages"));
  viewport()->setMouseTracking(true);
  connect(verticalScrollBar(), &QScrollBar::valueChanged, viewport(), qOverload<>(&QWidget::update));
}

void LaneView::show_data(SharedTimeline timeline) {
  picture_.data = std::move(timeline);
  setAccessibleDescription(picture_.data ? QString::fromStdString(timeline_words(*picture_.data)) : QString());
  picture_.window = TimeWindow(picture_.data ? static_cast<double>(picture_.data->end().value()) : 1);
  picture_.stage = picture_.data ? static_cast<std::size_t>(picture_.data->simulation().heaviest_rank) : 0;
  picture_.instant.reset();
  picture_.rows.show(picture_.data, seen().room());
  if (picture_.data && picture_.data->stages() == 1) picture_.rows.toggle(0, seen().room());
  fit_scroll_bar();
  viewport()->update();
}

void LaneView::show_window(const TimeWindow& window) {
  picture_.window = window;
  viewport()->update();
}

void LaneView::show_instant(std::optional<double> time) {
  picture_.instant = time;
  viewport()->update();
}

void LaneView::choose_stage(std::size_t stage) {
  if (!picture_.data || stage >= picture_.data->stages()) return;
  picture_.stage = stage;
  const LaneRow& row = picture_.rows.of_stage(stage);
  QScrollBar* bar = verticalScrollBar();
  if (row.top < bar->value()) bar->setValue(static_cast<int>(row.top));
  if (row.top + row.height > bar->value() + seen().room())
    bar->setValue(static_cast<int>(std::ceil(row.top + row.height - seen().room())));
  viewport()->update();
  Q_EMIT stage_chosen(stage);
}

void LaneView::toggle(std::size_t stage) {
  picture_.rows.toggle(stage, seen().room());
  fit_scroll_bar();
  viewport()->update();
}

QString LaneView::words_at(QPointF position) const { return picture_.words_at(position, seen()); }

LaneViewport LaneView::seen() const {
  return {viewport()->size(), width(), verticalScrollBar()->value(), devicePixelRatioF()};
}

void LaneView::change_window(const TimeWindow& window) {
  if (window == picture_.window) return;
  show_window(window);
  Q_EMIT window_changed(picture_.window);
}

void LaneView::fit_scroll_bar() {
  const int beyond = static_cast<int>(std::ceil(picture_.rows.height() - seen().room()));
  verticalScrollBar()->setRange(0, std::max(0, beyond));
  verticalScrollBar()->setPageStep(static_cast<int>(seen().room()));
  verticalScrollBar()->setSingleStep(20);
}

void LaneView::resizeEvent(QResizeEvent* /*event*/) {
  picture_.rows.fit(seen().room());
  fit_scroll_bar();
}

void LaneView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  picture_.paint(painter, palette_of(*this), seen());
  paint_focus_frame(painter, *this);
}

bool LaneView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), words_at(help->pos()), viewport());
  return true;
}

}  // namespace plumbline::gui
