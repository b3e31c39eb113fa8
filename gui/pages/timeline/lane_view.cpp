#include "gui/pages/timeline/lane_view.h"

#include <QApplication>
#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/quantity/text.h"

namespace plumbline::gui {
namespace {

constexpr int axis_height = 20;
constexpr double lane_gap = 1;
constexpr double lane_gap_from = 14;  ///< lanes lower than this have no gap to spare

}  // namespace

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
  data_ = std::move(timeline);
  window_ = TimeWindow(data_ ? static_cast<double>(data_->simulation().timeline.end.value()) : 1);
  stage_ = data_ ? static_cast<std::size_t>(data_->simulation().heaviest_rank) : 0;
  instant_.reset();
  rows_.show(data_, room());
  if (data_ && data_->stages() == 1) rows_.toggle(0, room());
  fit_scroll_bar();
  viewport()->update();
}

void LaneView::show_window(const TimeWindow& window) {
  window_ = window;
  viewport()->update();
}

void LaneView::show_instant(std::optional<double> time) {
  instant_ = time;
  viewport()->update();
}

void LaneView::choose_stage(std::size_t stage) {
  if (!data_ || stage >= data_->stages()) return;
  stage_ = stage;
  const LaneRow& row = rows_.of_stage(stage);
  QScrollBar* bar = verticalScrollBar();
  if (row.top < bar->value()) bar->setValue(static_cast<int>(row.top));
  if (row.top + row.height > bar->value() + room())
    bar->setValue(static_cast<int>(std::ceil(row.top + row.height - room())));
  viewport()->update();
  Q_EMIT stage_chosen(stage);
}

void LaneView::toggle(std::size_t stage) {
  rows_.toggle(stage, room());
  fit_scroll_bar();
  viewport()->update();
}

QString LaneView::words_at(QPointF position) const {
  const LaneRow* row = rows_.at(row_y(position.y()));
  if (!data_ || row == nullptr || position.x() < name_width) return {};
  const double time = scale().time_at(position.x());
  const Segment* segment = segment_at(*row->lane, time);
  const QString lane = QString::fromStdString(row->lane->name);
  const QString where = row->is_stream ? tr("stage %1, %2").arg(row->stage).arg(lane) : lane;
  if (segment == nullptr) return tr("%1: idle").arg(where);
  QString what = tr(words_of(segment->activity));
  if (segment->micro_batch >= 0) what += tr(" of micro-batch %1").arg(segment->micro_batch);
  return tr("%1: %2, %3 from %4")
      .arg(where, what, QString::fromStdString(to_text(to_seconds(segment->span.length()))),
           QString::fromStdString(to_text(to_seconds(segment->span.start))));
}

TimeScale LaneView::scale() const { return time_scale(window_, width()); }
double LaneView::room() const { return std::max(1, viewport()->height() - axis_height); }
double LaneView::row_y(double y) const { return y < axis_height ? -1 : y - axis_height + verticalScrollBar()->value(); }

QRectF LaneView::area_of(const LaneRow& row) const {
  const TimeScale across = scale();
  const double gap = row.height >= lane_gap_from ? 2 * lane_gap : lane_gap;
  return {across.left, row.top + axis_height - verticalScrollBar()->value(), across.right - across.left,
          row.height - gap};
}

void LaneView::change_window(const TimeWindow& window) {
  if (window == window_) return;
  show_window(window);
  Q_EMIT window_changed(window_);
}

void LaneView::fit_scroll_bar() {
  const int beyond = static_cast<int>(std::ceil(rows_.height() - room()));
  verticalScrollBar()->setRange(0, std::max(0, beyond));
  verticalScrollBar()->setPageStep(static_cast<int>(room()));
  verticalScrollBar()->setSingleStep(20);
}

void LaneView::resizeEvent(QResizeEvent* /*event*/) {
  rows_.fit(room());
  fit_scroll_bar();
}

void LaneView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  const Palette& palette = palette_of(*this);
  painter.fillRect(viewport()->rect(), palette.card);
  if (!data_) return;
  paint_lanes(painter, palette);
  paint_axis(painter, palette);
}

void LaneView::paint_lanes(QPainter& painter, const Palette& palette) {
  lanes_.begin(viewport()->size(), devicePixelRatioF(), palette.card);
  std::vector<const LaneRow*> seen;
  for (const LaneRow& row : rows_.rows()) {
    const QRectF area = area_of(row);
    if (area.bottom() > axis_height && area.top() < viewport()->height()) seen.push_back(&row);
  }
  for (const LaneRow* row : seen) lanes_.add_lane(*row->lane, area_of(*row), window_, palette);
  painter.drawImage(0, 0, lanes_.image());
  painter.setClipRect(QRectF(0, axis_height, viewport()->width(), viewport()->height() - axis_height));
  for (const LaneRow* row : seen) {
    lanes_.draw_boxes(painter, *row->lane, area_of(*row), window_, palette);
    paint_left_out(painter, *row, palette);
    paint_name(painter, *row, palette);
  }
  painter.setClipping(false);
}

void LaneView::paint_name(QPainter& painter, const LaneRow& row, const Palette& palette) {
  const QRectF area = area_of(row);
  const bool is_chosen = row.stage == stage_;
  if (is_chosen && !row.is_stream) painter.fillRect(QRectF(0, area.top(), 4, area.height()), palette.accent);
  // Of lanes lower than a line of text, as many names as have room.
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(painter.fontMetrics().height() / row.height)));
  const std::size_t away = row.stage > stage_ ? row.stage - stage_ : stage_ - row.stage;
  if (!row.is_stream && !is_chosen && (row.stage % every != 0 || away < every)) return;
  painter.setPen(is_chosen ? palette.text : palette.faint);
  const QRectF place(8, area.center().y() - 10, name_width - 14, 20);
  const QString name = QString::fromStdString(row.lane->name);
  painter.drawText(place, Qt::AlignVCenter | (row.is_stream ? Qt::AlignRight : Qt::AlignLeft), name);
}

void LaneView::paint_left_out(QPainter& painter, const LaneRow& row, const Palette& palette) {
  if (!row.lane->left_out) return;
  const TimeScale across = scale();
  const double from = across.x_of(static_cast<double>(row.lane->left_out->start.value()));
  const double to = across.x_of(static_cast<double>(row.lane->left_out->end.value()));
  QRectF area = area_of(row);
  area.setLeft(std::max(area.left(), from));
  area.setRight(std::min(area.right(), to));
  if (area.width() <= 0) return;
  painter.fillRect(area, QBrush(palette.border, Qt::BDiagPattern));
}

void LaneView::paint_axis(QPainter& painter, const Palette& palette) {
  const TimeScale across = scale();
  painter.fillRect(0, 0, viewport()->width(), axis_height, palette.card);
  for (const TimeMark& mark : time_marks(across)) {
    const double x = across.x_of(mark.time);
    painter.setPen(palette.faint);
    painter.drawLine(QLineF(x, axis_height - 4, x, axis_height));
    const double width = painter.fontMetrics().horizontalAdvance(mark.words);
    const double left = std::clamp(x - width / 2, 0.0, viewport()->width() - width);
    painter.drawText(QPointF(left, painter.fontMetrics().ascent()), mark.words);
  }
  if (!instant_) return;
  const double x = across.x_of(*instant_);
  if (x < across.left || x > across.right) return;
  painter.setPen(QPen(palette.refusal, 1.5, Qt::DashLine));
  painter.drawLine(QLineF(x, axis_height, x, viewport()->height()));
}

bool LaneView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), words_at(help->pos()), viewport());
  return true;
}

}  // namespace plumbline::gui
