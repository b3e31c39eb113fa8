#include "cli/run/loss_view.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/output/terminal.h"
#include "core/io/svg.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

constexpr std::size_t rows = 10;
constexpr std::size_t label_columns = 9;
std::size_t most_columns() { return terminal_columns() - label_columns - 2; }

// Pixels.
constexpr double plot_width = 640;
constexpr double plot_height = 320;
constexpr double margin_left = 60;
constexpr double margin_top = 50;
constexpr double margin_bottom = 45;
constexpr double legend_width = 230;
constexpr double band_width = 6;  // of several curves the first is a broad, pale band on which the others lie
constexpr double line_width = 1.5;
constexpr double dot_radius = 3;
constexpr double legend_line = 19;
constexpr double legend_mark = 18;
constexpr std::string_view band_colour = "#c3d4e8";

struct Range {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool is_empty() const { return !(low <= high); }
  /// From 0 at the low end to 1 at the high one.
  [[nodiscard]] double share(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

/// The mean of the finite losses of each of `columns` equal parts.
std::vector<double> column_means(const std::vector<double>& losses, std::size_t columns) {
  std::vector<double> means;
  for (std::size_t c = 0; c < columns; ++c) {
    double sum = 0;
    int count = 0;
    for (std::size_t i = c * losses.size() / columns; i < (c + 1) * losses.size() / columns; ++i) {
      if (!std::isfinite(losses[i])) continue;
      sum += losses[i];
      ++count;
    }
    means.push_back(count > 0 ? sum / count : std::nan(""));
  }
  return means;
}

/// The axes of a picture of losses, and the curves within.
class LossPlot {
 public:
  LossPlot(Svg& svg, const std::vector<LossCurve>& curves) : svg_(svg), curves_(curves) {
    for (const LossCurve& curve : curves) {
      steps_ = std::max(steps_, curve.losses.size());
      for (const double loss : curve.losses) range_.include(loss);
    }
  }

  void draw() {
    if (range_.is_empty()) return;
    draw_axes();
    for (std::size_t c = 0; c < curves_.size(); ++c) draw_curve(c);
    for (std::size_t c = 0; c < curves_.size(); ++c) draw_legend(c);
  }

 private:
  [[nodiscard]] double x_of(double step) const {
    return margin_left + plot_width * (steps_ > 1 ? (step - 1) / static_cast<double>(steps_ - 1) : 0.5);
  }
  [[nodiscard]] double y_of(double loss) const { return margin_top + plot_height * (1 - range_.share(loss)); }
  [[nodiscard]] bool is_band(std::size_t curve) const { return curve == 0 && curves_.size() > 1; }
  [[nodiscard]] std::string_view colour(std::size_t curve) const {
    return is_band(curve) ? band_colour : series_colours[curve % series_colours.size()];
  }
  [[nodiscard]] double width(std::size_t curve) const { return is_band(curve) ? band_width : line_width; }

  void draw_axes() {
    const double distance = range_.high > range_.low ? mark_distance(range_.high - range_.low) : 1;
    for (double at = std::ceil(range_.low / distance) * distance; at <= range_.high; at += distance) {
      svg_.line(margin_left, y_of(at), margin_left + plot_width, y_of(at), grid_colour);
      svg_.text(margin_left - 6, y_of(at) + 4, fixed(at, mark_digits(distance)), {.anchor = TextAnchor::end});
    }
    const double bottom = margin_top + plot_height;
    const double interval = std::max(1.0, mark_distance(static_cast<double>(steps_)));
    for (double step = interval; step <= static_cast<double>(steps_); step += interval) {
      svg_.line(x_of(step), bottom, x_of(step), bottom + 4, grid_colour);
      svg_.text(x_of(step), bottom + 18, fixed(step, 0), {.anchor = TextAnchor::middle});
    }
    svg_.line(margin_left, bottom, margin_left + plot_width, bottom, grid_colour);
    svg_.text(margin_left + plot_width / 2, bottom + 36, "step", {.anchor = TextAnchor::middle});
    svg_.text(margin_left, margin_top - 10, "loss, nats per token");
  }

  /// A loss that is no number leaves a gap; one between two gaps is a dot.
  void draw_curve(std::size_t c) {
    std::vector<std::pair<double, double>> points;
    const auto draw_points = [&] {
      if (points.size() == 1) svg_.dot(points[0].first, points[0].second, dot_radius, colour(c));
      if (points.size() > 1) svg_.polyline(points, colour(c), width(c));
      points.clear();
    };
    const std::vector<double>& losses = curves_[c].losses;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (std::isfinite(losses[i]))
        points.emplace_back(x_of(static_cast<double>(i + 1)), y_of(losses[i]));
      else
        draw_points();
    }
    draw_points();
  }

  void draw_legend(std::size_t c) {
    const double left = margin_left + plot_width + 16;
    const double y = margin_top + 14 + legend_line * static_cast<double>(c);
    svg_.polyline({{left, y - 4}, {left + legend_mark, y - 4}}, colour(c), width(c));
    svg_.text(left + legend_mark + 6, y, curves_[c].name);
  }

  Svg& svg_;
  const std::vector<LossCurve>& curves_;
  Range range_;
  std::size_t steps_ = 0;
};

}  // namespace

std::string loss_curve_text(const std::vector<double>& losses) {
  const std::vector<double> means = column_means(losses, std::min(losses.size(), most_columns()));
  Range range;
  std::size_t finite = 0;
  for (const double mean : means) {
    range.include(mean);
    finite += std::isfinite(mean) ? 1 : 0;
  }
  if (finite < 2) return "";
  std::array<std::string, rows> lines;
  lines.fill(std::string(means.size(), ' '));
  for (std::size_t c = 0; c < means.size(); ++c)
    if (std::isfinite(means[c]))
      lines[static_cast<std::size_t>(std::lround((1 - range.share(means[c])) * (rows - 1)))][c] = '*';
  std::string text;
  for (std::size_t r = 0; r < rows; ++r) {
    std::string label = r == 0 ? fixed(range.high, 3) : r + 1 == rows ? fixed(range.low, 3) : "";
    label.insert(0, label_columns - std::min(label_columns, label.size()), ' ');
    std::string line = label + " |" + lines[r];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text + std::string(label_columns, ' ') + " loss over " + std::to_string(losses.size()) + " steps\n";
}

std::string loss_picture(const std::string& title, const std::vector<LossCurve>& curves) {
  Svg svg(margin_left + plot_width + legend_width, margin_top + plot_height + margin_bottom);
  svg.text(margin_left, 20, title, {14, "#333333", TextAnchor::start, "bold"});
  LossPlot(svg, curves).draw();
  return std::move(svg).finish();
}

}  // namespace plumbline
