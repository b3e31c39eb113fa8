#pragma once
/// \file point_grid.h: which of many points lies nearest to a place, found without looking at all of them.
///
/// Checked against: tests/gui/scatter/scatter_plot_test.cpp (the nearest of all, by hand).

#include <QPointF>
#include <unordered_map>
#include <vector>

namespace plumbline::gui {

class PointGrid {
 public:
  PointGrid() = default;
  explicit PointGrid(std::vector<QPointF> points);

  /// At most `reach` pixels away; -1: none is. Of points in one place the first.
  [[nodiscard]] int nearest(const QPointF& at, double reach) const;
  [[nodiscard]] const std::vector<QPointF>& points() const { return points_; }

 private:
  std::vector<QPointF> points_;
  std::unordered_map<long long, std::vector<int>> cells_;
};

}  // namespace plumbline::gui
