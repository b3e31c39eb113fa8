#include "gui/pages/compare/timeline_strips.h"

#include <QPainter>
#include <algorithm>
#include <utility>

#include "core/quantity/text.h"
#include "gui/pages/compare/comparison.h"
#include "gui/pages/timeline/time_axis.h"
#include "gui/text.h"

namespace plumbline::gui {
namespace {

constexpr double letter_room = 24, right_room = 12, gap = 8, usual_strip = 44;

}  // namespace

TimelineStrips::TimelineStrips(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  setAccessibleName(tr("Simulated steps on one axis"));
}

void TimelineStrips::show_timelines(std::vector<SharedTimeline> timelines) {
  timelines_ = std::move(timelines);
  QStringList words;
  for (const SharedTimeline& timeline : timelines_)
    words.append(letter_of(static_cast<std::size_t>(words.size())) + ": " + qt(timeline_words(*timeline)));
  setAccessibleDescription(words.join("; "));
  updateGeometry();
  update();
}

double TimelineStrips::axis_height() const { return QFontMetricsF(font()).height() + 6; }

QSize TimelineStrips::sizeHint() const {
  return {300, static_cast<int>(axis_height() + static_cast<double>(timelines_.size()) * (usual_strip + gap))};
}

Picoseconds TimelineStrips::longest() const {
  Picoseconds most(1);
  for (const SharedTimeline& timeline : timelines_) most = std::max(most, timeline->simulation().timeline.end);
  return most;
}

QRectF TimelineStrips::strip_of(std::size_t plan) const {
  const double room = (height() - axis_height()) / static_cast<double>(std::max<std::size_t>(1, timelines_.size()));
  const double across = width() - letter_room - right_room;
  const double share =
      static_cast<double>(timelines_[plan]->simulation().timeline.end.value()) / static_cast<double>(longest().value());
  return {letter_room, axis_height() + static_cast<double>(plan) * room, across * share,
          std::max(8., std::min(room - gap, 2 * usual_strip))};
}

void TimelineStrips::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  if (timelines_.empty()) return;
  const Palette& palette = palette_of(*this);
  lanes_.begin(size(), devicePixelRatioF(), palette.card);
  for (std::size_t plan = 0; plan < timelines_.size(); ++plan) {
    const TimelineData& timeline = *timelines_[plan];
    const QRectF strip = strip_of(plan);
    const double lane = strip.height() / static_cast<double>(timeline.stages());
    const double between = lane >= 8 ? 1 : 0;
    const TimeWindow window(static_cast<double>(timeline.simulation().timeline.end.value()));
    for (std::size_t stage = 0; stage < timeline.stages(); ++stage)
      lanes_.add_lane(
          timeline.lanes[stage],
          QRectF(strip.left(), strip.top() + lane * static_cast<double>(stage), strip.width(), lane - between), window,
          palette);
  }
  painter.drawImage(0, 0, lanes_.image());
  paint_axis(painter);
}

void TimelineStrips::paint_axis(QPainter& painter) const {
  const Palette& palette = palette_of(*this);
  const TimeScale across{TimeWindow(static_cast<double>(longest().value())), letter_room, width() - right_room};
  for (const TimeMark& mark : time_marks(across)) {
    const double x = across.x_of(mark.time);
    const double words = painter.fontMetrics().horizontalAdvance(mark.words);
    painter.setPen(palette.faint);
    painter.drawLine(QLineF(x, axis_height() - 5, x, axis_height() - 2));
    painter.drawText(
        QPointF(std::clamp(x - words / 2, 0., std::max(0., width() - words)), painter.fontMetrics().ascent()),
        mark.words);
  }
  painter.setPen(palette.text);
  for (std::size_t plan = 0; plan < timelines_.size(); ++plan) {
    const QRectF strip = strip_of(plan);
    painter.drawText(QRectF(0, strip.top(), letter_room - 8, strip.height()), Qt::AlignVCenter | Qt::AlignRight,
                     letter_of(plan));
  }
}

}  // namespace plumbline::gui
