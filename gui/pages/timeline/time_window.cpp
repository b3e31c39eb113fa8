#include "gui/pages/timeline/time_window.h"

#include <algorithm>

namespace plumbline::gui {
namespace {

constexpr double shortest = 1000;  // a nanosecond; no action is timed more finely than its kernel's launch

}  // namespace

TimeWindow::TimeWindow(double whole) : whole_(std::max(1.0, whole)), length_(whole_) {}

void TimeWindow::zoom(double factor, double fraction) {
  const double length = std::clamp(length_ / factor, std::min(shortest, whole_), whole_);
  show(begin_ + fraction * (length_ - length), length);
}

void TimeWindow::move(double fraction) { show(begin_ + fraction * length_, length_); }

void TimeWindow::show(double begin, double length) {
  length_ = std::clamp(length, std::min(shortest, whole_), whole_);
  begin_ = std::clamp(begin, 0.0, whole_ - length_);
}

}  // namespace plumbline::gui
