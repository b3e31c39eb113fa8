#pragma once
/// \file scatter_canvas.h: what a scatter plot paints around its points: axes, what a GPU holds, what a run may take,
/// the front, what colours mean.
///
/// Checked against: tests/gui/scatter/scatter_plot_test.cpp, tests/gui/scatter/point_shade_test.cpp.

#include <QFontMetricsF>
#include <QRectF>

#include "gui/scatter/axis_scale.h"
#include "gui/scatter/point_shade.h"

class QPainter;

namespace plumbline::gui {

/// Everything outlives it.
struct ScatterCanvas {
  const ScatterPicture& picture;
  const PointShade& shade;
  const Palette& palette;
  QFontMetricsF metrics;
  QRectF plot;
  AxisScale memory, step;
  int width = 0;  ///< of the widget
};

void paint_frame(QPainter& painter, const ScatterCanvas& canvas);
void paint_capacity(QPainter& painter, const ScatterCanvas& canvas);
/// Above it the run breaks its deadline or its budget.
void paint_limit(QPainter& painter, const ScatterCanvas& canvas);
void paint_front(QPainter& painter, const ScatterCanvas& canvas);
/// At the top right, where the slowest plans that need most memory would lie.
void paint_scale(QPainter& painter, const ScatterCanvas& canvas);

}  // namespace plumbline::gui
