#pragma once
/// \file log_panel.h: a panel of a picture whose axes are both logarithmic, with its frame, marks and titles.
///
/// Text in SVG 1.1, byte-identical for the same values. Lengths are in pixels.

#include <cmath>
#include <string>
#include <vector>

#include "core/io/svg.h"

namespace plumbline {

inline constexpr std::string_view panel_frame_colour = "#888888";

/// A logarithmic axis that holds values with room around them.
class LogAxis {
 public:
  /// What is not positive and finite has no place.
  void include(double value);
  [[nodiscard]] bool is_empty() const { return low_ > high_; }
  /// From 0 to 1 along the axis.
  [[nodiscard]] double share(double value) const;
  /// 1, 2 and 5 times powers of ten; where these are many, powers of ten alone, where they are few, even steps.
  [[nodiscard]] std::vector<double> marks() const;

 private:
  static constexpr double room = 1.25;  // at both ends

  [[nodiscard]] bool is_inside(double value) const { return share(value) >= 0 && share(value) <= 1; }
  [[nodiscard]] std::vector<double> even_marks() const;

  double low_ = HUGE_VAL;
  double high_ = 0;
};

class LogPanel {
 public:
  static constexpr double width = 400;
  static constexpr double height = 320;
  static constexpr double top = 92;

  LogPanel(Svg& svg, double left) : svg_(svg), left_(left) {}

  LogAxis x;
  LogAxis y;

  [[nodiscard]] double x_of(double value) const { return left_ + width * x.share(value); }
  [[nodiscard]] double y_of(double value) const { return top + height * (1 - y.share(value)); }
  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] double right() const { return left_ + width; }
  void draw_frame(const std::string& title, const std::string& y_words, const std::string& x_words,
                  const std::vector<double>& x_marks);

 private:
  Svg& svg_;
  double left_;
};

}  // namespace plumbline
