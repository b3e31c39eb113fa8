#include "cli/output/log_panel.h"

#include <algorithm>

#include "core/quantity/text.h"

namespace plumbline {
namespace {

/// "250", "2 500", "1.2 M".
std::string mark_text(double value) {
  if (value < 1) return fixed(value, value < 0.01 ? 3 : value < 0.1 ? 2 : 1);
  return value < 1e4 ? fixed(value, 0) : count_text(std::llround(value));
}

}  // namespace

void LogAxis::include(double value) {
  if (!(value > 0) || !std::isfinite(value)) return;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

double LogAxis::share(double value) const {
  return std::log(value / low_ * room) / std::log(high_ / low_ * room * room);
}

std::vector<double> LogAxis::marks() const {
  constexpr double few_decades = 2.5;
  constexpr std::size_t few_marks = 3;
  const bool is_fine = std::log10(high_ / low_) < few_decades;
  std::vector<double> marks;
  for (double decade = std::pow(10, std::floor(std::log10(low_)) - 1); decade <= 10 * high_; decade *= 10)
    for (const double factor : {1., 2., 5.})
      if (is_inside(factor * decade) && (is_fine || factor == 1)) marks.push_back(factor * decade);
  return marks.size() < few_marks ? even_marks() : marks;
}

std::vector<double> LogAxis::even_marks() const {
  std::vector<double> marks;
  const double distance = mark_distance(2 * (high_ * room - low_ / room));  // at most six of them
  for (double value = std::ceil(low_ / room / distance) * distance; is_inside(value); value += distance)
    marks.push_back(value);
  return marks;
}

void LogPanel::draw_frame(const std::string& title, const std::string& y_words, const std::string& x_words,
                          const std::vector<double>& x_marks) {
  const double bottom = top + height;
  for (const double mark : x_marks) {
    svg_.line(x_of(mark), top, x_of(mark), bottom, grid_colour);
    svg_.text(x_of(mark), bottom + 18, mark_text(mark), {.anchor = TextAnchor::middle});
  }
  for (const double mark : y.marks()) {
    svg_.line(left_, y_of(mark), left_ + width, y_of(mark), grid_colour);
    svg_.text(left_ - 6, y_of(mark) + 4, mark_text(mark), {.anchor = TextAnchor::end});
  }
  svg_.outline(box_path({left_, top, width, height}), panel_frame_colour);
  svg_.text(left_, top - 28, title, {.size = 13, .weight = "bold"});
  svg_.text(left_, top - 10, y_words);
  svg_.text(left_ + width, bottom + 38, x_words, {.anchor = TextAnchor::end});
}

}  // namespace plumbline
