#pragma once
/// \file plot_marks.h: marks of series in the pictures of `plan validate`: one shape and one colour each.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

namespace plumbline {

enum class MarkShape : std::uint8_t { circle, square, triangle, diamond, triangle_down };
inline constexpr std::size_t mark_shape_count = 5;

/// Pixels from the centre of a mark to its edge.
inline constexpr double mark_radius = 4;

using PlotPoint = std::pair<double, double>;

/// Subpaths of an SVG path: a closed polygon, and a mark around (x, y).
[[nodiscard]] std::string polygon_path(std::initializer_list<PlotPoint> corners);
[[nodiscard]] std::string mark_path(double x, double y, MarkShape shape);

}  // namespace plumbline
