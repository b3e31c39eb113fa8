#include "core/io/timeline_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/io/svg.h"
#include "core/program/action_kinds.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

constexpr double picture_width = 1200;
constexpr double plot_left = 62;
constexpr double plot_right = 1118;
constexpr double plot_top = 84;
constexpr double lane_height = 22;
constexpr double neighbour_gap = 0.6;  ///< between boxes wide enough to be told apart
constexpr double memory_gap = 3;
constexpr double memory_height = 26;
constexpr double stage_height = 60;
constexpr std::size_t most_stages = 16;

struct LookWords {
  std::string_view name;
  int red, green, blue;
};
/// By timeline kind; told apart by lightness too, for readers who do not see all hues.
constexpr std::array<LookWords, timeline_kind_count> looks{{{"forward", 47, 111, 190},
                                                            {"backward", 214, 126, 28},
                                                            {"weight gradient", 106, 153, 60},
                                                            {"recompute", 150, 111, 190},
                                                            {"exposed communication", 200, 40, 60},
                                                            {"exposed host copies", 232, 168, 178},
                                                            {"optimizer", 70, 70, 70}}};

/// Of micro-batches.
bool has_shades(TimelineKind work) {
  return work != TimelineKind::communication && work != TimelineKind::host_copy && work != TimelineKind::optimizer;
}

/// 0: as it is; towards 1: paler.
std::string colour_of(TimelineKind look, double paleness) {
  const LookWords& words = looks[static_cast<std::size_t>(look)];
  std::string text = "#";
  for (const int part : {words.red, words.green, words.blue}) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto mixed = static_cast<std::size_t>(std::lround(part + paleness * (255 - part)));
    text += digits[mixed / 16];
    text += digits[mixed % 16];
  }
  return text;
}

std::string gib(Bytes amount) { return fixed(amount / 1_GiB, 1); }

class Picture {
 public:
  Picture(const Program& program, const Simulation& simulation, const PictureWords& words)
      : program_(program),
        simulation_(simulation),
        words_(words),
        svg_(picture_width, plot_top + 40 + stages_height()) {
    scale_ = words.capacity;
    for (const Bytes capacity : words.stage_capacity) scale_ = std::max(scale_, capacity);
    for (const MemoryPeak& peak : simulation.memory) scale_ = std::max(scale_, peak.memory.device_total());
  }

  std::string draw() && {
    svg_.text(12, 22, words_.title, {15, "#111111", TextAnchor::start, "bold"});
    svg_.text(12, 41, words_.subtitle, {12});
    draw_axis();
    for (std::size_t row = 0; row < rows(); ++row) {
      const std::size_t ranks = program_.ranks.size();
      draw_stage(rows() == 1 ? 0 : row * (ranks - 1) / (rows() - 1),
                 plot_top + static_cast<double>(row) * stage_height);
    }
    draw_legend();
    return std::move(svg_).finish();
  }

 private:
  [[nodiscard]] std::size_t rows() const { return std::min(most_stages, program_.ranks.size()); }
  [[nodiscard]] double stages_height() const { return static_cast<double>(rows()) * stage_height; }
  [[nodiscard]] double x_of(Picoseconds time) const {
    return plot_left + (plot_right - plot_left) * (time / simulation_.timeline.end);
  }
  [[nodiscard]] double height_of(Bytes amount) const { return memory_height * (amount / scale_); }
  [[nodiscard]] double paleness(std::int32_t chunk) const {
    const std::int32_t chunks = program_.shape.virtual_stages;
    return chunks == 1 || chunk < 0 ? 0 : 0.6 * chunk / (chunks - 1);
  }

  void draw_axis() {
    const double bottom = plot_top + stages_height();
    const double length = 1e3 * to_seconds(simulation_.timeline.end).value();
    const double distance = mark_distance(length);
    const int digits = mark_digits(distance);
    for (int mark = 0; mark * distance <= length; ++mark) {
      const double x = plot_left + (plot_right - plot_left) * mark * distance / length;
      svg_.line(x, plot_top - 4, x, bottom, "#e4e4e4");
      svg_.text(x, bottom + 14, fixed(mark * distance, digits), {11, "#333333", TextAnchor::middle});
    }
    svg_.text((plot_left + plot_right) / 2, bottom + 31, "time in the step, ms", {12, "#333333", TextAnchor::middle});
  }

  void draw_stage(std::size_t rank, double top) {
    svg_.text(plot_left - 8, top + 15, "stage " + std::to_string(rank), {12, "#111111", TextAnchor::end});
    svg_.box({plot_left, top, plot_right - plot_left, lane_height}, "#ededed");
    draw_lane(rank, top);
    draw_memory(rank, top + lane_height + memory_gap);
  }

  struct Occupation {
    bool is_in_order;  ///< else it runs alongside what is, and shows where nothing does
    TimelineKind look;
    std::int32_t chunk;
    std::int32_t micro_batch;
    Span span;
  };
  /// What occupies a rank; what follows without a gap and looks the same is one of these.
  [[nodiscard]] std::vector<Occupation> occupations(std::size_t rank) const {
    std::vector<Occupation> result;
    const std::vector<Action>& actions = program_.ranks[rank].actions;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const Action& action = actions[i];
      const Span& span = simulation_.timeline.of_rank[rank][i];
      if (sent_by(action) != nullptr || span.length() == Picoseconds(0)) continue;
      const bool is_in_order = action.issue == Issue::in_order;
      const TimelineKind look = timeline_kind(action.kind());
      const std::int32_t chunk = has_shades(look) ? action.chunk : -1;
      const bool joins = !result.empty() && result.back().is_in_order == is_in_order && result.back().look == look &&
                         result.back().chunk == chunk && result.back().micro_batch == action.micro_batch &&
                         result.back().span.end == span.start;
      if (joins)
        result.back().span.end = span.end;
      else
        result.push_back({is_in_order, look, chunk, action.micro_batch, span});
    }
    return result;
  }

  void draw_lane(std::size_t rank, double top) {
    std::map<std::tuple<bool, TimelineKind, std::int32_t>, std::string> paths;
    const std::vector<Occupation> all = occupations(rank);
    for (const Occupation& one : all) {
      const double x = x_of(one.span.start);
      const double width = x_of(one.span.end) - x;
      paths[{one.is_in_order, one.look, one.chunk}] +=
          box_path({x, top, width > 3 ? width - neighbour_gap : width, lane_height});
      seen_[static_cast<std::size_t>(one.look)] = true;
    }
    for (const auto& [key, path] : paths)
      svg_.path(path, colour_of(std::get<TimelineKind>(key), paleness(std::get<std::int32_t>(key))));
    for (const Occupation& one : all) label(one, top);
    draw_left_out(rank, top);
  }

  /// What was left out of a long program, as one box that says so.
  void draw_left_out(std::size_t rank, double top) {
    const LeftOut& left_out = simulation_.left_out;
    if (left_out.micro_batches == 0) return;
    const Span between = gap(left_out, simulation_.timeline, rank);
    const double x = x_of(between.start);
    const double width = x_of(between.end) - x;
    svg_.box({x, top, width, lane_height}, "#d5dbe3");
    const std::string words = to_text(left_out);
    if (width > 5.6 * static_cast<double>(words.size()))
      svg_.text(x + width / 2, top + 15, words, {10, "#222222", TextAnchor::middle});
  }

  /// The micro-batch, where there is room for it.
  void label(const Occupation& one, double top) {
    if (!has_shades(one.look)) return;
    const std::string words = std::to_string(one.micro_batch);
    const double x = x_of(one.span.start);
    const double width = x_of(one.span.end) - x;
    if (width < 5.6 * static_cast<double>(words.size()) + 1.5) return;
    const std::string_view colour = paleness(one.chunk) > 0.35 ? "#222222" : "#ffffff";
    svg_.text(x + width / 2, top + 15, words, {10, colour, TextAnchor::middle});
  }

  /// The largest total in each column of pixels.
  [[nodiscard]] std::vector<Bytes> columns(std::size_t rank) const {
    std::vector<Bytes> largest(static_cast<std::size_t>(plot_right - plot_left));
    std::size_t column = 0;
    Bytes held(0);
    Bytes of_period(0);  // the most that the period before what was left out holds
    const auto fill_to = [&](Picoseconds time) {
      const auto last = std::min(largest.size() - 1, static_cast<std::size_t>(x_of(time) - plot_left));
      for (; column < last; ++column) largest[column] = std::max(largest[column], held);
      largest[column] = std::max(largest[column], held);
    };
    for (const MemoryPoint& point : memory_curve(program_.ranks[rank])) {
      if (point.action >= 0) {
        const Span& span = simulation_.timeline.of_rank[rank][static_cast<std::size_t>(point.action)];
        if (simulation_.left_out.is_behind(rank, point.action))
          held = std::max(held, std::exchange(of_period, Bytes(0)));
        fill_to(point.moment == Moment::begin ? span.start : span.end);
      }
      held = point.memory.device_total();
      if (simulation_.left_out.micro_batches > 0 && point.action >= simulation_.left_out.first[rank] &&
          !simulation_.left_out.is_behind(rank, point.action))
        of_period = std::max(of_period, held);
      largest[column] = std::max(largest[column], held);
    }
    fill_to(simulation_.timeline.end);
    return largest;
  }

  void draw_memory(std::size_t rank, double top) {
    const double bottom = top + memory_height;
    std::string path = "M" + svg_number(plot_left) + " " + svg_number(bottom);
    const std::vector<Bytes> largest = columns(rank);
    for (std::size_t c = 0; c < largest.size(); ++c) {
      if (c > 0 && largest[c] == largest[c - 1]) continue;
      if (c > 0) path += "H" + svg_number(plot_left + static_cast<double>(c));
      path += "V" + svg_number(bottom - height_of(largest[c]));
    }
    svg_.path(path + "H" + svg_number(plot_right) + "V" + svg_number(bottom) + "z", "#8fc7bd");
    const double states = height_of(memory_curve(program_.ranks[rank]).front().memory.device_total());
    svg_.box({plot_left, bottom - states, plot_right - plot_left, states}, "#c9c9c9");
    const Bytes capacity = rank < words_.stage_capacity.size() ? words_.stage_capacity[rank] : words_.capacity;
    if (capacity.value() > 0) {
      const double y = bottom - height_of(capacity);
      svg_.line(plot_left, y, plot_right, y, "#c8283c", "4 3");
    }
    draw_peak(rank, bottom);
  }

  void draw_peak(std::size_t rank, double bottom) {
    const MemoryPeak& peak = simulation_.memory[rank];
    const bool heaviest = static_cast<std::int32_t>(rank) == simulation_.heaviest_rank;
    svg_.text(plot_right + 6, bottom - 8, gib(peak.memory.device_total()) + " GiB",
              {11, heaviest ? "#c8283c" : "#333333", TextAnchor::start, heaviest ? "bold" : "normal"});
    if (!heaviest) return;
    const Picoseconds at = peak.action < 0
                               ? Picoseconds(0)
                               : simulation_.timeline.of_rank[rank][static_cast<std::size_t>(peak.action)].start;
    const Bytes allocated = peak.memory.device_total() - peak.memory[MemoryClass::fragmentation];
    svg_.dot(x_of(at), bottom - height_of(allocated), 3.5, "#c8283c");
  }

  void swatch(double& x, std::string_view colour, std::string_view name) {
    constexpr double y = 52;
    svg_.box({x, y, 12, 12}, colour);
    svg_.text(x + 16, y + 10, name);
    x += 30 + 6.1 * static_cast<double>(name.size());
  }

  void draw_legend() {
    double x = 12;
    for (std::size_t i = 0; i < looks.size(); ++i)
      if (seen_[i]) swatch(x, colour_of(static_cast<TimelineKind>(i), 0), looks[i].name);
    swatch(x, "#ededed", "idle");
    swatch(x, "#c9c9c9", "states");
    swatch(x, "#8fc7bd", "activations and buffers");
    if (words_.capacity.value() > 0) {
      svg_.line(x, 58, x + 16, 58, "#c8283c", "4 3");
      svg_.text(x + 20, 62,
                words_.stage_capacity.empty() ? "a device holds " + gib(words_.capacity) + " GiB"
                                              : "what the stage's device holds");
    }
    if (program_.shape.virtual_stages > 1)
      svg_.text(picture_width - 12, 41, "later chunks of a stage are paler", {12, "#333333", TextAnchor::end});
  }

  const Program& program_;
  const Simulation& simulation_;
  const PictureWords& words_;
  Bytes scale_{1};
  std::array<bool, looks.size()> seen_{};
  Svg svg_;
};

}  // namespace

std::string timeline_svg(const Program& program, const Simulation& simulation, const PictureWords& words) {
  return Picture(program, simulation, words).draw();
}

}  // namespace plumbline
