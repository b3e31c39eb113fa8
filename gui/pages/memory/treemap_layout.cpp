#include "gui/pages/memory/treemap_layout.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace plumbline::gui {
namespace {

/// The worst ratio of sides in a strip of these areas along a side; `smallest` and `largest` are of them.
double worst_ratio(double sum, double smallest, double largest, double side) {
  const double square = side * side;
  return std::max(square * largest / (sum * sum), sum * sum / (square * smallest));
}

/// Lays a strip along the shorter side and returns what is left.
QRectF lay_strip(const std::vector<double>& areas, std::size_t first, std::size_t last, const QRectF& free,
                 std::vector<QRectF>& places) {
  const double sum = std::accumulate(areas.begin() + static_cast<std::ptrdiff_t>(first),
                                     areas.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
  const bool is_wide = free.width() >= free.height();
  const double thickness = sum / (is_wide ? free.height() : free.width());
  double at = is_wide ? free.top() : free.left();
  for (std::size_t i = first; i < last; ++i) {
    const double length = areas[i] / thickness;
    places[i] = is_wide ? QRectF(free.left(), at, thickness, length) : QRectF(at, free.top(), length, thickness);
    at += length;
  }
  return is_wide ? free.adjusted(thickness, 0, 0, 0) : free.adjusted(0, thickness, 0, 0);
}

}  // namespace

std::vector<QRectF> squarified(const std::vector<double>& sizes, const QRectF& area) {
  std::vector<QRectF> places(sizes.size(), QRectF(area.topLeft(), QSizeF(0, 0)));
  const double total = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  if (total <= 0 || area.isEmpty()) return places;
  std::vector<double> areas;
  for (const double size : sizes)
    if (size > 0) areas.push_back(size / total * area.width() * area.height());
  QRectF free = area;
  for (std::size_t first = 0; first < areas.size();) {
    const double side = std::min(free.width(), free.height());
    double sum = 0;
    double worst = std::numeric_limits<double>::infinity();
    std::size_t last = first;
    for (; last < areas.size(); ++last) {
      const double next = worst_ratio(sum + areas[last], areas[last], areas[first], side);
      if (next > worst) break;
      worst = next;
      sum += areas[last];
    }
    free = lay_strip(areas, first, std::max(last, first + 1), free, places);
    first = std::max(last, first + 1);
  }
  return places;
}

}  // namespace plumbline::gui
