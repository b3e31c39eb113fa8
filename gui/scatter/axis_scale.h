#pragma once
/// \file axis_scale.h: an axis of a picture: from values to pixels, and round values to mark.
///
/// Checked against: tests/gui/scatter/axis_scale_test.cpp.

#include <vector>

namespace plumbline::gui {

class AxisScale {
 public:
  AxisScale() = default;
  /// A little more than the values, with a range also where they are all one. `first_pixel` may be the larger one.
  AxisScale(double least, double most, double first_pixel, double last_pixel);

  [[nodiscard]] double pixel(double value) const;
  [[nodiscard]] double value(double pixel) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  /// Multiples of 1, 2 or 5 times a power of ten, about `count` of them.
  [[nodiscard]] std::vector<double> ticks(int count) const;
  /// Digits behind the point that tell these ticks apart.
  [[nodiscard]] int digits(int count) const;

 private:
  [[nodiscard]] double tick_step(int count) const;

  double low_ = 0, high_ = 1, first_ = 0, last_ = 1;
};

}  // namespace plumbline::gui
