#pragma once
/// \file svg.h: shapes as the text of an SVG picture.
///
/// Coordinates are pixels from the top left; colours are "#rrggbb".
/// Source: W3C, "Scalable Vector Graphics (SVG) 1.1", which browsers and rsvg-convert draw.
/// Checked against: tests/unit/core/io/timeline_svg_test.cpp.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline {

enum class TextAnchor : std::uint8_t { start, middle, end };

struct TextStyle {
  double size = 11;
  std::string_view colour = "#333333";
  TextAnchor anchor = TextAnchor::start;
  std::string_view weight = "normal";
};

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// Tableau's ten colours, told apart by most eyes.
inline constexpr std::array<std::string_view, 10> series_colours{"#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f",
                                                                 "#b6992d", "#b07aa1", "#ff9da7", "#9c755f", "#79706e"};
inline constexpr std::string_view grid_colour = "#dddddd";

/// Between the marks of an axis of this length: 1, 2 or 5 times a power of ten, the smallest that needs at most 12
/// marks.
[[nodiscard]] double mark_distance(double length);
/// Digits after the point that marks at this distance need.
[[nodiscard]] int mark_digits(double distance);
/// "12.5": two digits at most, no zeros at the end.
[[nodiscard]] std::string svg_number(double value);
/// The subpath of a rectangle.
[[nodiscard]] std::string box_path(const Box& box);

class Svg {
 public:
  Svg(double width, double height);
  void box(const Box& box, std::string_view fill);
  void line(double x1, double y1, double x2, double y2, std::string_view colour, std::string_view dashes = "");
  void text(double x, double y, std::string_view words, const TextStyle& style = {});
  /// Many shapes of one colour.
  void path(std::string_view subpaths, std::string_view fill);
  /// Their edges alone.
  void outline(std::string_view subpaths, std::string_view colour);
  /// Straight lines from point to point.
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view colour, double width);
  void dot(double x, double y, double radius, std::string_view fill);
  /// The whole document.
  [[nodiscard]] std::string finish() &&;

 private:
  std::string text_;
};

}  // namespace plumbline
