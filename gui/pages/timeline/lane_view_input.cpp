// What wheel, mouse and keys do to the timeline.
#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <cmath>

#include "gui/pages/timeline/lane_view.h"

namespace plumbline::gui {
namespace {

constexpr double zoom_per_notch = 1.25;
constexpr double degrees_per_notch = 120;  ///< in eighths, as Qt counts
constexpr double step = 0.1;               ///< of what is seen
constexpr double page = 0.9;
constexpr double key_zoom = 1.5;

}  // namespace

void LaneView::wheelEvent(QWheelEvent* event) {
  event->accept();
  const QPoint turned = event->angleDelta();
  if (event->modifiers().testFlag(Qt::ControlModifier)) {
    verticalScrollBar()->setValue(verticalScrollBar()->value() - turned.y() / 2);
    return;
  }
  TimeWindow window = picture_.window;
  const bool moves = event->modifiers().testFlag(Qt::ShiftModifier) || turned.x() != 0;
  const double notches = (turned.y() != 0 ? turned.y() : turned.x()) / degrees_per_notch;
  if (moves)
    window.move(-step * notches);
  else
    window.zoom(std::pow(zoom_per_notch, notches),
                std::clamp(picture_.scale(seen()).fraction_at(event->position().x()), 0.0, 1.0));
  change_window(window);
}

void LaneView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  pressed_ = event->position();
  pressed_window_ = picture_.window;
  pressed_scroll_ = verticalScrollBar()->value();
  is_dragged_ = false;
}

void LaneView::mouseMoveEvent(QMouseEvent* event) {
  if (!pressed_) return;
  const QPointF moved = event->position() - *pressed_;
  if (!is_dragged_ && moved.manhattanLength() < QApplication::startDragDistance()) return;
  is_dragged_ = true;
  const TimeScale across = picture_.scale(seen());
  TimeWindow window = pressed_window_;
  window.move(-moved.x() / (across.right - across.left));
  change_window(window);
  verticalScrollBar()->setValue(pressed_scroll_ - static_cast<int>(moved.y()));
}

void LaneView::mouseReleaseEvent(QMouseEvent* event) {
  const bool is_click = pressed_ && !is_dragged_;
  pressed_.reset();
  if (!is_click || event->button() != Qt::LeftButton) return;
  const LaneRow* row = picture_.rows.at(seen().row_y(event->position().y()));
  if (row == nullptr) return;
  choose_stage(row->stage);
  if (event->position().x() >= name_width) Q_EMIT instant_chosen(picture_.scale(seen()).time_at(event->position().x()));
}

void LaneView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const LaneRow* row = picture_.rows.at(seen().row_y(event->position().y()))) toggle(row->stage);
}

bool LaneView::move_by_key(int key) {
  TimeWindow window = picture_.window;
  switch (key) {
    case Qt::Key_Left: window.move(-step); break;
    case Qt::Key_Right: window.move(step); break;
    case Qt::Key_PageUp: window.move(-page); break;
    case Qt::Key_PageDown: window.move(page); break;
    case Qt::Key_Plus:
    case Qt::Key_Equal: window.zoom(key_zoom, 0.5); break;
    case Qt::Key_Minus: window.zoom(1 / key_zoom, 0.5); break;
    case Qt::Key_Home:
    case Qt::Key_F: window.show_all(); break;
    default: return false;
  }
  change_window(window);
  return true;
}

void LaneView::keyPressEvent(QKeyEvent* event) {
  if (move_by_key(event->key())) return;
  switch (event->key()) {
    case Qt::Key_Up:
      if (picture_.stage > 0) choose_stage(picture_.stage - 1);
      return;
    case Qt::Key_Down: choose_stage(picture_.stage + 1); return;
    case Qt::Key_Return:
    case Qt::Key_Enter: toggle(picture_.stage); return;
    default: QAbstractScrollArea::keyPressEvent(event);
  }
}

}  // namespace plumbline::gui
