#pragma once
/// \file time_axis.h: where instants lie across a picture, and the marks of its axis.

#include <QRectF>
#include <QString>
#include <vector>

#include "gui/pages/timeline/time_window.h"

namespace plumbline::gui {

/// Room for the names of lanes and the numbers of memory; the same in all pictures of a page, so that their axes agree.
inline constexpr int name_width = 76;
inline constexpr int right_margin = 20;  ///< no less than a scroll bar

/// Instants across a plot from `left` to `right`.
struct TimeScale {
  TimeWindow window;
  double left = 0;
  double right = 1;

  [[nodiscard]] double x_of(double time) const {
    return left + (time - window.begin()) * (right - left) / window.length();
  }
  [[nodiscard]] double time_at(double x) const {
    return window.begin() + (x - left) * window.length() / (right - left);
  }
  [[nodiscard]] double fraction_at(double x) const { return (x - left) / (right - left); }
};

/// Of a widget this wide.
[[nodiscard]] TimeScale time_scale(const TimeWindow& window, int width);

struct TimeMark {
  double time = 0;
  QString words;  ///< "12.5 ms"
};
/// At distances of 1, 2 or 5 times a power of ten, with room for their words.
[[nodiscard]] std::vector<TimeMark> time_marks(const TimeScale& scale);

}  // namespace plumbline::gui
