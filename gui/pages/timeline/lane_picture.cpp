#include "gui/pages/timeline/lane_picture.h"

#include <QCoreApplication>
#include <QPainter>
#include <QTextOption>
#include <algorithm>
#include <cmath>

#include "core/quantity/text.h"

namespace plumbline::gui {
namespace {

constexpr int axis_height = 20;
constexpr double lane_gap = 1;
constexpr double lane_gap_from = 14;  ///< lanes lower than this have no gap to spare

QString tr(const char* text) { return QCoreApplication::translate("LaneView", text); }

}  // namespace

double LaneViewport::room() const { return std::max(1, size.height() - axis_height); }
double LaneViewport::row_y(double y) const { return y < axis_height ? -1 : y - axis_height + scroll; }

QString LanePicture::words_at(QPointF position, const LaneViewport& seen) const {
  const LaneRow* row = rows.at(seen.row_y(position.y()));
  if (!data || row == nullptr || position.x() < name_width) return {};
  const Segment* segment = segment_at(*row->lane, scale(seen).time_at(position.x()));
  const QString lane = QString::fromStdString(row->lane->name);
  const QString where = row->kind != RowKind::stage ? tr("stage %1, %2").arg(row->stage).arg(lane) : lane;
  if (segment == nullptr) return tr("%1: idle").arg(where);
  QString what = tr(words_of(segment->activity));
  if (segment->micro_batch >= 0) what += tr(" of micro-batch %1").arg(segment->micro_batch);
  return tr("%1: %2, %3 from %4")
      .arg(where, what, QString::fromStdString(to_text(to_seconds(segment->span.length()))),
           QString::fromStdString(to_text(to_seconds(segment->span.start))));
}

void LanePicture::paint(QPainter& painter, const Palette& palette, const LaneViewport& seen) {
  painter.fillRect(QRect(QPoint(0, 0), seen.size), palette.card);
  if (!data) return;
  paint_lanes(painter, palette, seen);
  paint_axis(painter, palette, seen);
}

QRectF LanePicture::area_of(const LaneRow& row, const LaneViewport& seen) const {
  const TimeScale across = scale(seen);
  const double gap = row.height >= lane_gap_from ? 2 * lane_gap : lane_gap;
  return {across.left, row.top + axis_height - seen.scroll, across.right - across.left, row.height - gap};
}

void LanePicture::paint_lanes(QPainter& painter, const Palette& palette, const LaneViewport& seen) {
  lanes_.begin(seen.size, seen.pixel_ratio, palette.card);
  std::vector<const LaneRow*> visible;
  for (const LaneRow& row : rows.rows()) {
    const QRectF area = area_of(row, seen);
    if (area.bottom() > axis_height && area.top() < seen.size.height()) visible.push_back(&row);
  }
  for (const LaneRow* row : visible) lanes_.add_lane(*row->lane, area_of(*row, seen), window, palette);
  painter.drawImage(0, 0, lanes_.image());
  painter.setClipRect(QRectF(0, axis_height, seen.size.width(), seen.size.height() - axis_height));
  for (const LaneRow* row : visible) {
    const QRectF area = area_of(*row, seen);
    lanes_.draw_boxes(painter, *row->lane, area, window, palette);
    paint_left_out(painter, *row, area, palette, scale(seen));
    paint_name(painter, *row, area, palette);
  }
  painter.setClipping(false);
}

void LanePicture::paint_name(QPainter& painter, const LaneRow& row, const QRectF& area, const Palette& palette) const {
  const bool is_chosen = row.stage == stage;
  if (is_chosen && row.kind == RowKind::stage)
    painter.fillRect(QRectF(0, area.top(), 4, area.height()), palette.accent);
  // Of lanes lower than a line of text, as many names as have room.
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(painter.fontMetrics().height() / row.height)));
  const std::size_t away = row.stage > stage ? row.stage - stage : stage - row.stage;
  if (row.kind == RowKind::measured && row.height < painter.fontMetrics().height()) return;
  if (row.kind == RowKind::stage && !is_chosen && (row.stage % every != 0 || away < every)) return;
  painter.setPen(is_chosen ? palette.text : palette.faint);
  const QRectF place(8, area.center().y() - 10, name_width - 14, 20);
  const QString name = painter.fontMetrics().elidedText(QString::fromStdString(row.lane->name), Qt::ElideRight,
                                                        static_cast<int>(place.width()));
  QTextOption option(Qt::AlignVCenter | (row.kind != RowKind::stage ? Qt::AlignRight : Qt::AlignLeft));
  option.setWrapMode(QTextOption::NoWrap);
  painter.drawText(place, name, option);
}

void LanePicture::paint_left_out(QPainter& painter, const LaneRow& row, QRectF area, const Palette& palette,
                                 const TimeScale& across) const {
  if (!row.lane->left_out) return;
  area.setLeft(std::max(area.left(), across.x_of(static_cast<double>(row.lane->left_out->start.value()))));
  area.setRight(std::min(area.right(), across.x_of(static_cast<double>(row.lane->left_out->end.value()))));
  if (area.width() <= 0) return;
  painter.fillRect(area, QBrush(palette.border, Qt::BDiagPattern));
}

void LanePicture::paint_axis(QPainter& painter, const Palette& palette, const LaneViewport& seen) const {
  const TimeScale across = scale(seen);
  painter.fillRect(0, 0, seen.size.width(), axis_height, palette.card);
  for (const TimeMark& mark : time_marks(across)) {
    const double x = across.x_of(mark.time);
    painter.setPen(palette.faint);
    painter.drawLine(QLineF(x, axis_height - 4, x, axis_height));
    const double width = painter.fontMetrics().horizontalAdvance(mark.words);
    const double left = std::clamp(x - width / 2, 0.0, seen.size.width() - width);
    painter.drawText(QPointF(left, painter.fontMetrics().ascent()), mark.words);
  }
  if (!instant) return;
  const double x = across.x_of(*instant);
  if (x < across.left || x > across.right) return;
  painter.setPen(QPen(palette.refusal, 1.5, Qt::DashLine));
  painter.drawLine(QLineF(x, axis_height, x, seen.size.height()));
}

}  // namespace plumbline::gui
