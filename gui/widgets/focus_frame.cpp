#include "gui/widgets/focus_frame.h"

#include <QPainter>
#include <QWidget>

#include "gui/palette.h"

namespace plumbline::gui {

void paint_focus_frame(QPainter& painter, const QWidget& widget) {
  if (!widget.hasFocus()) return;
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(palette_of(widget).accent, 1));
  painter.drawRect(painter.window().adjusted(0, 0, -1, -1));
}

}  // namespace plumbline::gui
