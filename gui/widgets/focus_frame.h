#pragma once
/// \file focus_frame.h: the frame of a picture that takes keys, so that it is seen where they go.

class QPainter;
class QWidget;

namespace plumbline::gui {

/// Around the whole of what `painter` paints on; nothing while `widget` has not the focus.
void paint_focus_frame(QPainter& painter, const QWidget& widget);

}  // namespace plumbline::gui
