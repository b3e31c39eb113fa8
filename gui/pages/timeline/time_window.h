#pragma once
/// \file time_window.h: which part of a step a picture shows: zoomed and moved, never beyond its ends.
///
/// In picoseconds from the step's begin. Checked against: tests/gui/pages/timeline/time_window_test.cpp.

namespace plumbline::gui {

class TimeWindow {
 public:
  TimeWindow() = default;
  /// All of a step of this length, at least one picosecond.
  explicit TimeWindow(double whole);

  [[nodiscard]] double begin() const { return begin_; }
  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] double end() const { return begin_ + length_; }
  [[nodiscard]] double whole() const { return whole_; }
  [[nodiscard]] bool is_whole() const { return length_ >= whole_; }

  /// `factor` above 1: nearer. What is at `fraction` of the width stays there.
  void zoom(double factor, double fraction);
  /// By a part of what is seen; above 0: later.
  void move(double fraction);
  void show(double begin, double length);
  void show_all() { show(0, whole_); }

  bool operator==(const TimeWindow&) const = default;

 private:
  double whole_ = 1;
  double begin_ = 0;
  double length_ = 1;
};

}  // namespace plumbline::gui
