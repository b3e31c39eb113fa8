#pragma once
/// \file treemap_layout.h: a rectangle divided into parts of given areas, each as near to a square as it can be.
///
/// Source: Bruls, Huizing, van Wijk, "Squarified treemaps", VisSym 2000. Checked against:
/// tests/gui/pages/memory/treemap_layout_test.cpp (the paper's example; areas in proportion, no overlap).

#include <QRectF>
#include <vector>

namespace plumbline::gui {

/// In the order of `sizes`, which are at least 0 and descend. All of `area` is covered where any is above 0.
[[nodiscard]] std::vector<QRectF> squarified(const std::vector<double>& sizes, const QRectF& area);

}  // namespace plumbline::gui
