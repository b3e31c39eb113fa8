#include "gui/scatter/axis_scale.h"

#include <algorithm>
#include <cmath>

namespace plumbline::gui {

AxisScale::AxisScale(double least, double most, double first_pixel, double last_pixel)
    : first_(first_pixel), last_(last_pixel) {
  constexpr double margin = 0.05, of_one_value = 0.1;
  const double range = most - least;
  const double room = range > 0 ? margin * range : std::max(std::abs(most) * of_one_value, 1e-6);
  low_ = least >= 0 ? std::max(0., least - room) : least - room;
  high_ = most + room;
}

double AxisScale::pixel(double value) const { return first_ + (value - low_) / (high_ - low_) * (last_ - first_); }
double AxisScale::value(double pixel) const { return low_ + (pixel - first_) / (last_ - first_) * (high_ - low_); }

double AxisScale::tick_step(int count) const {
  const double rough = (high_ - low_) / std::max(1, count);
  const double power = std::pow(10., std::floor(std::log10(rough)));
  for (const double factor : {1., 2., 5.})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

std::vector<double> AxisScale::ticks(int count) const {
  std::vector<double> values;
  const double step = tick_step(count);
  for (double i = std::ceil(low_ / step); i * step <= high_; ++i) values.push_back(i * step);
  return values;
}

int AxisScale::digits(int count) const {
  return std::max(0, static_cast<int>(-std::floor(std::log10(tick_step(count)) + 1e-9)));
}

}  // namespace plumbline::gui
