#include "gui/scatter/point_grid.h"

#include <cmath>
#include <utility>

namespace plumbline::gui {
namespace {

constexpr double cell_size = 16;
constexpr long long columns = 1 << 20;

int cell_index(double coordinate) { return static_cast<int>(std::floor(coordinate / cell_size)); }
long long key(int column, int row) { return row * columns + column; }

}  // namespace

PointGrid::PointGrid(std::vector<QPointF> points) : points_(std::move(points)) {
  for (std::size_t i = 0; i < points_.size(); ++i)
    cells_[key(cell_index(points_[i].x()), cell_index(points_[i].y()))].push_back(static_cast<int>(i));
}

int PointGrid::nearest(const QPointF& at, double reach) const {
  int best = -1;
  double least = reach * reach;
  const int span = static_cast<int>(std::ceil(reach / cell_size));
  const int column = cell_index(at.x()), row = cell_index(at.y());
  for (int y = row - span; y <= row + span; ++y)
    for (int x = column - span; x <= column + span; ++x) {
      const auto cell = cells_.find(key(x, y));
      if (cell == cells_.end()) continue;
      for (const int i : cell->second) {
        const QPointF away = points_[static_cast<std::size_t>(i)] - at;
        const double distance = away.x() * away.x() + away.y() * away.y();
        if (distance > least || (distance == least && best >= 0 && best < i)) continue;
        least = distance;
        best = i;
      }
    }
  return best;
}

}  // namespace plumbline::gui
