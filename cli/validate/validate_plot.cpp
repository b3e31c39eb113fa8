#include "cli/validate/validate_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "cli/validate/plot_marks.h"
#include "core/io/svg.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

// Pixels.
constexpr double panel_side = 480;
constexpr double panel_gap = 70;
constexpr double margin_left = 60;
constexpr double margin_top = 60;
constexpr double margin_bottom = 60;
constexpr double legend_width = 240;
constexpr double legend_line = 19;
constexpr double mark = mark_radius;

constexpr double band = 0.1;  // predictions within 10 % of the measurement
constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;

constexpr const char* frame_colour = "#888888";
constexpr const char* band_colour = "#c3d4e8";

/// Sources beyond the colours take the next shape, of these.
constexpr std::size_t shape_count = 4;

/// How the runs of one source are drawn.
struct Style {
  std::string colour;
  MarkShape shape = MarkShape::circle;
};

/// One pair of logarithmic axes of the same range.
class Panel {
 public:
  Panel(double left, std::string title, std::string unit, RunKind kind, double scale)
      : left_(left), title_(std::move(title)), unit_(std::move(unit)), kind_(kind), scale_(scale) {}

  void draw(Svg& svg, const Validation& validation, const std::map<std::string, Style>& styles) {
    find_range(validation);
    draw_frame(svg);
    for (const auto& [source, style] : styles) {
      const std::string hollow = markers(validation, source, style.shape, false);
      if (!hollow.empty()) svg.outline(hollow, style.colour);
    }
    for (const auto& [source, style] : styles) {
      const std::string filled = markers(validation, source, style.shape, true);
      if (!filled.empty()) svg.path(filled, style.colour);
    }
  }

 private:
  void find_range(const Validation& validation) {
    double smallest = HUGE_VAL;
    double largest = 0;
    for (const RunOutcome& run : validation.runs) {
      if (run.kind != kind_) continue;
      for (const double value : {run.pair.measured / scale_, run.pair.predicted.expected / scale_}) {
        smallest = std::min(smallest, value);
        largest = std::max(largest, value);
      }
    }
    low_ = largest > 0 && smallest > 0 ? std::floor(std::log10(smallest)) : 0;
    high_ = std::max(low_ + 1, largest > 0 ? std::ceil(std::log10(largest)) : 0);
  }
  [[nodiscard]] double share(double value) const {
    return std::clamp((std::log10(std::max(value, 1e-300)) - low_) / (high_ - low_), 0.0, 1.0);
  }
  [[nodiscard]] double x_of(double value) const { return left_ + panel_side * share(value); }
  [[nodiscard]] double y_of(double value) const { return margin_top + panel_side * (1 - share(value)); }
  [[nodiscard]] PlotPoint point(double measured, double predicted) const { return {x_of(measured), y_of(predicted)}; }

  [[nodiscard]] std::string markers(const Validation& validation, const std::string& source, MarkShape shape,
                                    bool trusted) const {
    std::string path;
    for (const RunOutcome& run : validation.runs)
      if (run.kind == kind_ && run.source == source && (run.trust == RunTrust::trusted) == trusted)
        path += mark_path(x_of(run.pair.measured / scale_), y_of(run.pair.predicted.expected / scale_), shape);
    return path;
  }

  void draw_frame(Svg& svg) const {
    const double bottom = margin_top + panel_side;
    const double right = left_ + panel_side;
    const double low = std::pow(10.0, low_);
    const double high = std::pow(10.0, high_);
    // The strip between 0.9 and 1.1 times the measurement, cut at the frame.
    svg.path(polygon_path({point(low, low), point(low, low * (1 + band)), point(high / (1 + band), high),
                           point(high, high), point(high, high * (1 - band)), point(low / (1 - band), low)}),
             band_colour);
    for (double decade = low_; decade <= high_; ++decade) {
      const double value = std::pow(10.0, decade);
      const std::string label = decade < 0 ? fixed(value, static_cast<int>(-decade)) : fixed(value, 0);
      svg.line(x_of(value), margin_top, x_of(value), bottom, grid_colour);
      svg.line(left_, y_of(value), right, y_of(value), grid_colour);
      svg.text(x_of(value), bottom + 18, label, {.anchor = TextAnchor::middle});
      svg.text(left_ - 6, y_of(value) + 4, label, {.anchor = TextAnchor::end});
    }
    svg.line(x_of(low), y_of(low), x_of(high), y_of(high), frame_colour);
    svg.outline(box_path({left_, margin_top, panel_side, panel_side}), frame_colour);
    svg.text(left_ + panel_side / 2, margin_top - 34, title_,
             {.size = 13, .anchor = TextAnchor::middle, .weight = "bold"});
    svg.text(left_, margin_top - 12, "predicted (" + unit_ + ")");
    svg.text(right, bottom + 38, "measured (" + unit_ + ")", {.anchor = TextAnchor::end});
  }

  double left_;
  std::string title_;
  std::string unit_;
  RunKind kind_;
  double scale_;
  double low_ = 0;
  double high_ = 1;
};

std::map<std::string, Style> styles_of(const Validation& validation) {
  std::map<std::string, Style> styles;
  for (const RunOutcome& run : validation.runs)
    if (run.kind != RunKind::fit) styles.emplace(run.source, Style{});
  std::size_t i = 0;
  for (auto& [source, style] : styles) {
    style = {std::string(series_colours.at(i % series_colours.size())),
             static_cast<MarkShape>(i / series_colours.size() % shape_count)};
    ++i;
  }
  return styles;
}

void draw_legend(Svg& svg, const std::map<std::string, Style>& styles, double left) {
  double y = margin_top + mark;
  for (const auto& [source, style] : styles) {
    svg.path(mark_path(left, y, style.shape), style.colour);
    svg.text(left + 12, y + 4, source);
    y += legend_line;
  }
  y += legend_line / 2;
  svg.outline(mark_path(left, y, MarkShape::circle), frame_colour);
  svg.text(left + 12, y + 4, "hollow: inferred or doubtful run");
  y += legend_line;
  svg.box({left - mark, y - mark, 3 * mark, 2 * mark}, band_colour);
  svg.text(left + 12, y + 4, "within 10 %");
}

}  // namespace

std::string validation_svg(const Validation& validation) {
  const std::map<std::string, Style> styles = styles_of(validation);
  const double second = margin_left + panel_side + panel_gap;
  const double legend = second + panel_side + panel_gap / 2;
  const double legend_height = (static_cast<double>(styles.size()) + 3) * legend_line;
  Svg svg(legend + legend_width, margin_top + std::max(panel_side, legend_height) + margin_bottom);
  Panel(margin_left, "step time", "s", RunKind::time, 1).draw(svg, validation, styles);
  Panel(second, "peak memory", "GiB", RunKind::memory, gibibyte).draw(svg, validation, styles);
  draw_legend(svg, styles, legend);
  return std::move(svg).finish();
}

}  // namespace plumbline
