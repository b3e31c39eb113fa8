#include "cli/size_plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/io/svg.h"
#include "core/quantity/text.h"
#include "planner/present/size_tables.h"

namespace plumbline {
namespace {

using session::Scaling;
using session::SizeAnswer;
using session::SizeRow;

// Pixels.
constexpr double panel_width = 400;
constexpr double panel_height = 320;
constexpr double panel_gap = 95;
constexpr double margin_left = 75;
constexpr double margin_top = 92;
constexpr double margin_bottom = 55;
constexpr double margin_right = 40;
constexpr double dot_radius = 4;
constexpr double whisker = 4;
constexpr double legend_mark = 22;

constexpr std::string_view frame_colour = "#888888";
constexpr std::string_view limit_colour = "#e15759";
constexpr const char* dashes = "5 4";

std::string_view colour_of(Scaling scaling) { return series_colours[scaling == Scaling::strong ? 0 : 1]; }

/// A logarithmic axis that holds values with room around them.
class LogAxis {
 public:
  void include(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  [[nodiscard]] bool is_empty() const { return low_ > high_; }
  /// From 0 to 1 along the axis.
  [[nodiscard]] double share(double value) const {
    return std::log(value / low_ * room) / std::log(high_ / low_ * room * room);
  }
  /// 1, 2 and 5 times powers of ten; where these are many, powers of ten alone, where they are few, even steps.
  [[nodiscard]] std::vector<double> marks() const {
    constexpr double few_decades = 2.5;
    constexpr std::size_t few_marks = 3;
    const bool is_fine = std::log10(high_ / low_) < few_decades;
    std::vector<double> marks;
    for (double decade = std::pow(10, std::floor(std::log10(low_)) - 1); decade <= 10 * high_; decade *= 10)
      for (const double factor : {1., 2., 5.})
        if (is_inside(factor * decade) && (is_fine || factor == 1)) marks.push_back(factor * decade);
    return marks.size() < few_marks ? even_marks() : marks;
  }

 private:
  static constexpr double room = 1.25;  // at both ends

  [[nodiscard]] bool is_inside(double value) const { return share(value) >= 0 && share(value) <= 1; }
  [[nodiscard]] std::vector<double> even_marks() const {
    std::vector<double> marks;
    const double distance = mark_distance(2 * (high_ * room - low_ / room));  // at most six of them
    for (double value = std::ceil(low_ / room / distance) * distance; is_inside(value); value += distance)
      marks.push_back(value);
    return marks;
  }

  double low_ = HUGE_VAL;
  double high_ = 0;
};

/// "250", "2 500", "1.2 M".
std::string mark_text(double value) {
  if (value < 1) return fixed(value, value < 0.01 ? 3 : value < 0.1 ? 2 : 1);
  return value < 1e4 ? fixed(value, 0) : count_text(std::llround(value));
}

class Panel {
 public:
  Panel(Svg& svg, double left) : svg_(svg), left_(left) {}

  LogAxis x;
  LogAxis y;

  [[nodiscard]] double x_of(double value) const { return left_ + panel_width * x.share(value); }
  [[nodiscard]] double right() const { return left_ + panel_width; }
  [[nodiscard]] double y_of(double value) const { return margin_top + panel_height * (1 - y.share(value)); }
  void draw_frame(const std::string& title, const std::string& y_words, const std::string& x_words,
                  const std::vector<double>& x_marks) {
    const double bottom = margin_top + panel_height;
    for (const double mark : x_marks) {
      svg_.line(x_of(mark), margin_top, x_of(mark), bottom, grid_colour);
      svg_.text(x_of(mark), bottom + 18, mark_text(mark), {.anchor = TextAnchor::middle});
    }
    for (const double mark : y.marks()) {
      svg_.line(left_, y_of(mark), left_ + panel_width, y_of(mark), grid_colour);
      svg_.text(left_ - 6, y_of(mark) + 4, mark_text(mark), {.anchor = TextAnchor::end});
    }
    svg_.outline(box_path({left_, margin_top, panel_width, panel_height}), frame_colour);
    svg_.text(left_, margin_top - 28, title, {.size = 13, .weight = "bold"});
    svg_.text(left_, margin_top - 10, y_words);
    svg_.text(left_ + panel_width, bottom + 38, x_words, {.anchor = TextAnchor::end});
  }

 private:
  Svg& svg_;
  double left_;
};

class ScalingPicture {
 public:
  explicit ScalingPicture(const SizeAnswer& answer)
      : answer_(answer),
        svg_(margin_left + 2 * panel_width + panel_gap + margin_right, margin_top + panel_height + margin_bottom) {}

  std::string draw() && {
    svg_.text(margin_left, 22, present::size_question_words(answer_), {.size = 14, .weight = "bold"});
    draw_legend();
    draw_throughput();
    draw_bill();
    return std::move(svg_).finish();
  }

 private:
  [[nodiscard]] std::vector<const SizeRow*> rows_of(Scaling scaling) const {
    std::vector<const SizeRow*> rows;
    for (const SizeRow& row : answer_.rows)
      if (row.scaling == scaling && row.plan) rows.push_back(&row);
    return rows;
  }
  [[nodiscard]] double cost(const SizeRow& row) const {
    return row.bill.dollars ? row.bill.dollars->value() : row.bill.gpu_hours;
  }

  void draw_legend() {
    double left = margin_left;
    const double y = 42;
    for (const Scaling scaling : answer_.request.scalings) {
      svg_.line(left, y - 4, left + legend_mark, y - 4, colour_of(scaling));
      svg_.dot(left + legend_mark / 2, y - 4, dot_radius, colour_of(scaling));
      svg_.text(left + legend_mark + 6, y, std::string(to_text(scaling)) + " scaling");
      left += 130;
    }
    svg_.line(left, y - 4, left + legend_mark, y - 4, frame_colour, dashes);
    svg_.text(left + legend_mark + 6, y, "efficiency 100 %");
    if (!answer_.request.limits.any()) return;
    left += 140;
    svg_.line(left, y - 4, left + legend_mark, y - 4, limit_colour, dashes);
    svg_.text(left + legend_mark + 6, y, "limit");
  }

  /// Tokens per second at the ends of the step's interval.
  static double fastest(const SizeRow& row) { return row.tokens_per_second * row.step_s.expected / row.step_s.low; }
  static double slowest(const SizeRow& row) { return row.tokens_per_second * row.step_s.expected / row.step_s.high; }

  void draw_throughput() {
    Panel panel(svg_, margin_left);
    std::vector<double> counts;
    for (const SizeRow& row : answer_.rows) {
      if (!row.plan) continue;
      panel.x.include(static_cast<double>(row.devices));
      panel.y.include(fastest(row));
      panel.y.include(slowest(row));
      if (counts.empty() || counts.back() != static_cast<double>(row.devices))
        counts.push_back(static_cast<double>(row.devices));
    }
    if (counts.empty()) return;
    panel.draw_frame("How it scales", "tokens per second", "GPUs", counts);
    for (const Scaling scaling : answer_.request.scalings) draw_curve(panel, rows_of(scaling), scaling);
  }

  void draw_curve(const Panel& panel, const std::vector<const SizeRow*>& rows, Scaling scaling) {
    if (rows.empty()) return;
    const auto x = [&](const SizeRow& row) { return panel.x_of(static_cast<double>(row.devices)); };
    const SizeRow& first = *rows.front();
    const SizeRow& last = *rows.back();
    const double ideal_each = first.tokens_per_second / static_cast<double>(first.devices) / first.efficiency;
    const auto ideal = [&](const SizeRow& row) { return panel.y_of(ideal_each * static_cast<double>(row.devices)); };
    svg_.line(x(first), ideal(first), x(last), ideal(last), frame_colour, dashes);
    std::vector<std::pair<double, double>> points;
    for (const SizeRow* row : rows) {
      points.emplace_back(x(*row), panel.y_of(row->tokens_per_second));
      const double top = panel.y_of(fastest(*row));
      const double bottom = panel.y_of(slowest(*row));
      svg_.line(x(*row), top, x(*row), bottom, colour_of(scaling));
      for (const double end : {top, bottom})
        svg_.line(x(*row) - whisker, end, x(*row) + whisker, end, colour_of(scaling));
      svg_.dot(points.back().first, points.back().second, dot_radius, colour_of(scaling));
      if (scaling == answer_.request.scalings.front())
        svg_.text(points.back().first + 7, points.back().second + 14, fixed(100 * row->efficiency, 0) + " %");
    }
    svg_.polyline(points, colour_of(scaling), 1.5);
  }

  void draw_bill() {
    Panel panel(svg_, margin_left + panel_width + panel_gap);
    const session::RunLimits& limits = answer_.request.limits;
    for (const SizeRow& row : answer_.rows) {
      if (!row.plan) continue;
      panel.x.include(row.bill.days.expected);
      panel.y.include(cost(row));
    }
    if (panel.x.is_empty()) return;
    if (limits.days) panel.x.include(*limits.days);
    if (limits.budget) panel.y.include(limits.budget->value());
    const bool has_price = answer_.terms.price_per_device_hour.has_value();
    panel.draw_frame("What the run takes", has_price ? "dollars" : "GPU-hours", "days", panel.x.marks());
    draw_limits(panel);
    for (const Scaling scaling : answer_.request.scalings) {
      std::vector<std::pair<double, double>> points;
      for (const SizeRow* row : rows_of(scaling)) {
        points.emplace_back(panel.x_of(row->bill.days.expected), panel.y_of(cost(*row)));
        svg_.dot(points.back().first, points.back().second, dot_radius, colour_of(scaling));
        if (scaling == answer_.request.scalings.front()) draw_count(panel, points.back(), row->devices);
      }
      svg_.polyline(points, colour_of(scaling), 1.5);
    }
  }

  /// At the right end its words stand to the left.
  void draw_count(const Panel& panel, const std::pair<double, double>& at, std::int64_t devices) {
    const bool is_at_end = at.first > panel.right() - 60;
    svg_.text(at.first + (is_at_end ? 0 : 7), at.second - 9, std::to_string(devices) + " GPUs",
              {.anchor = is_at_end ? TextAnchor::middle : TextAnchor::start});
  }

  void draw_limits(const Panel& panel) {
    const session::RunLimits& limits = answer_.request.limits;
    const double left = margin_left + panel_width + panel_gap;
    if (limits.days) {
      const double x = panel.x_of(*limits.days);
      svg_.line(x, margin_top, x, margin_top + panel_height, limit_colour, dashes);
    }
    if (limits.budget && answer_.terms.price_per_device_hour) {
      const double y = panel.y_of(limits.budget->value());
      svg_.line(left, y, left + panel_width, y, limit_colour, dashes);
    }
  }

  const SizeAnswer& answer_;
  Svg svg_;
};

}  // namespace

std::string scaling_svg(const session::SizeAnswer& answer) { return ScalingPicture(answer).draw(); }

}  // namespace plumbline
