#include "cli/validate/plot_marks.h"

#include "core/io/svg.h"

namespace plumbline {

std::string polygon_path(std::initializer_list<PlotPoint> corners) {
  std::string path;
  for (const auto& [x, y] : corners) path += (path.empty() ? "M" : "L") + svg_number(x) + " " + svg_number(y);
  return path + "z";
}

std::string mark_path(double x, double y, MarkShape shape) {
  constexpr double mark = mark_radius;
  constexpr double tip = mark + 1;
  switch (shape) {
    case MarkShape::circle: {
      const std::string radius = svg_number(mark);
      const std::string arc = "a" + radius + " " + radius + " 0 1 0 ";
      return "M" + svg_number(x - mark) + " " + svg_number(y) + arc + svg_number(2 * mark) + " 0" + arc +
             svg_number(-2 * mark) + " 0z";
    }
    case MarkShape::square: return box_path({x - mark, y - mark, 2 * mark, 2 * mark});
    case MarkShape::triangle: return polygon_path({{x, y - tip}, {x + tip, y + mark}, {x - tip, y + mark}});
    case MarkShape::diamond: return polygon_path({{x, y - tip}, {x + tip, y}, {x, y + tip}, {x - tip, y}});
    case MarkShape::triangle_down: return polygon_path({{x, y + tip}, {x + tip, y - mark}, {x - tip, y - mark}});
  }
  return "";
}

}  // namespace plumbline
