#include "cli/validate/benchmark_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cli/validate/benchmark_runs.h"
#include "cli/validate/plot_marks.h"
#include "core/io/svg.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

// Pixels.
constexpr double drift_width = 760;
constexpr double drift_height = 420;
constexpr double drift_left = 60;
constexpr double drift_top = 50;
constexpr double drift_bottom = 56;
constexpr double drift_legend_width = 260;
constexpr double drift_legend_line = 19;
constexpr double drift_line_width = 1;

constexpr const char* drift_frame_colour = "#888888";
constexpr const char* drift_band_colour = "#c3d4e8";
constexpr double drift_band = 10;  // per cent
/// Marks of the axis of errors, per cent: of a ratio, so half and twice are as far from none.
constexpr std::array<double, 17> error_marks{-90, -80, -67, -50, -33, -20, -10,  0,   10,
                                             25,  50,  100, 200, 400, 900, 1900, 9900};
constexpr double few_devices = 8;

/// How the runs of one benchmark on one system are drawn.
struct GroupStyle {
  std::string colour;
  MarkShape shape = MarkShape::circle;
  bool is_hollow = false;
};

/// Colours by benchmark, marks by system: filled ones first, then hollow.
std::vector<GroupStyle> styles_of_groups(const std::vector<BenchmarkGroup>& groups) {
  std::map<std::string, std::size_t> benchmarks;
  std::map<std::string, std::size_t> systems;
  for (const BenchmarkGroup& group : groups) {
    benchmarks.emplace(group.benchmark, 0);
    systems.emplace(group.system, 0);
  }
  for (std::map<std::string, std::size_t>* numbered : {&benchmarks, &systems}) {
    std::size_t next = 0;
    for (auto& [name, number] : *numbered) number = next++;
  }
  std::vector<GroupStyle> styles;
  for (const BenchmarkGroup& group : groups) {
    const std::size_t mark = systems[group.system];
    styles.push_back({std::string(series_colours.at(benchmarks[group.benchmark] % series_colours.size())),
                      static_cast<MarkShape>(mark % mark_shape_count), mark / mark_shape_count % 2 == 1});
  }
  return styles;
}

/// GPUs and per cent to pixels.
class DriftAxes {
 public:
  explicit DriftAxes(const std::vector<BenchmarkGroup>& groups) {
    double most = few_devices;
    for (const BenchmarkGroup& group : groups)
      for (const RunOutcome& run : group.runs) {
        most = std::max(most, static_cast<double>(run.devices));
        least_devices_ = std::min(least_devices_, std::log2(static_cast<double>(run.devices)));
        low_ = std::min(low_, 100 * run.pair.error());
        high_ = std::max(high_, 100 * run.pair.error());
      }
    most_devices_ = std::max(least_devices_ + 1, std::ceil(std::log2(most)));
    least_devices_ = std::floor(least_devices_);
    const auto above = std::upper_bound(error_marks.begin(), error_marks.end(), low_);
    low_ = above == error_marks.begin() ? error_marks.front() : *(above - 1);
    const auto next = std::lower_bound(error_marks.begin(), error_marks.end(), high_);
    high_ = next == error_marks.end() ? error_marks.back() : *next;
  }

  [[nodiscard]] double x_of(double devices) const {
    constexpr double inset = 14;  // marks of the fewest and the most devices stay inside of the frame
    return drift_left + inset +
           (drift_width - 2 * inset) * (std::log2(devices) - least_devices_) / (most_devices_ - least_devices_);
  }
  [[nodiscard]] double y_of(double per_cent) const {
    const double inside = std::clamp(per_cent, low_, high_);
    return drift_top + drift_height * (log_ratio(high_) - log_ratio(inside)) / (log_ratio(high_) - log_ratio(low_));
  }

  void draw_frame(Svg& svg) const {
    const double right = drift_left + drift_width;
    const double bottom = drift_top + drift_height;
    const double band_top = y_of(std::min(high_, drift_band));
    svg.box({drift_left, band_top, drift_width, y_of(std::max(low_, -drift_band)) - band_top}, drift_band_colour);
    for (double doubling = least_devices_; doubling <= most_devices_; ++doubling) {
      const double x = x_of(std::exp2(doubling));
      svg.line(x, drift_top, x, bottom, grid_colour);
      svg.text(x, bottom + 18, fixed(std::exp2(doubling), 0), {.anchor = TextAnchor::middle});
    }
    for (const double value : error_marks) {
      if (value < low_ || value > high_) continue;
      svg.line(drift_left, y_of(value), right, y_of(value), grid_colour);
      const std::string number = fixed(value, 0);
      svg.text(drift_left - 6, y_of(value) + 4, value > 0 ? "+" + number : number, {.anchor = TextAnchor::end});
    }
    svg.line(drift_left, y_of(0), right, y_of(0), drift_frame_colour);
    svg.outline(box_path({drift_left, drift_top, drift_width, drift_height}), drift_frame_colour);
    svg.text(drift_left, drift_top - 26, "Step times of MLPerf Training, which no fit has read",
             {.size = 13, .weight = "bold"});
    svg.text(drift_left, drift_top - 8, "predicted / measured - 1 (%)");
    svg.text(right, bottom + 38, "GPUs", {.anchor = TextAnchor::end});
  }

 private:
  [[nodiscard]] static double log_ratio(double per_cent) { return std::log(1 + per_cent / 100); }

  double least_devices_ = std::log2(few_devices);  ///< of their base-2 logarithm, as `most_devices_`
  double most_devices_ = 0;
  double low_ = -drift_band;
  double high_ = drift_band;
};

/// Through the mean error at each number of devices.
std::vector<std::pair<double, double>> mean_line(const BenchmarkGroup& group, const DriftAxes& axes) {
  std::map<std::int64_t, std::vector<double>> errors;
  for (const RunOutcome& run : group.runs) errors[run.devices].push_back(100 * run.pair.error());
  std::vector<std::pair<double, double>> points;
  for (const auto& [devices, some] : errors)
    points.emplace_back(axes.x_of(static_cast<double>(devices)), axes.y_of(mean(some)));
  return points;
}

void draw_mark(Svg& svg, const std::string& path, const GroupStyle& style) {
  if (style.is_hollow) {
    svg.path(path, "#ffffff");
    svg.outline(path, style.colour);
  } else {
    svg.path(path, style.colour);
  }
}

}  // namespace

std::string benchmarks_svg(const Validation& validation) {
  const std::vector<BenchmarkGroup> groups = official_benchmarks(validation);
  const std::vector<GroupStyle> styles = styles_of_groups(groups);
  const DriftAxes axes(groups);
  const double legend = drift_left + drift_width + 24;
  const double legend_height = (static_cast<double>(groups.size()) + 1) * drift_legend_line;
  Svg svg(legend + drift_legend_width, drift_top + std::max(drift_height, legend_height) + drift_bottom);
  axes.draw_frame(svg);
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (const auto points = mean_line(groups[i], axes); points.size() > 1)
      svg.polyline(points, styles[i].colour, drift_line_width);
  double y = drift_top + mark_radius;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::string path;
    for (const RunOutcome& run : groups[i].runs)
      path +=
          mark_path(axes.x_of(static_cast<double>(run.devices)), axes.y_of(100 * run.pair.error()), styles[i].shape);
    draw_mark(svg, path, styles[i]);
    draw_mark(svg, mark_path(legend, y, styles[i].shape), styles[i]);
    svg.text(legend + 12, y + 4, groups[i].name());
    y += drift_legend_line;
  }
  svg.box({legend - mark_radius, y - mark_radius, 3 * mark_radius, 2 * mark_radius}, drift_band_colour);
  svg.text(legend + 12, y + 4, "within 10 %");
  return std::move(svg).finish();
}

}  // namespace plumbline
