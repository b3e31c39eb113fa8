#include "gui/pages/timeline/time_axis.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/io/svg.h"

namespace plumbline::gui {
namespace {

constexpr double room_for_words = 90;

struct Unit {
  double picoseconds;
  const char* name;
};
constexpr std::array units{Unit{1e12, "s"}, Unit{1e9, "ms"}, Unit{1e6, "us"}, Unit{1e3, "ns"}};

}  // namespace

TimeScale time_scale(const TimeWindow& window, int width) {
  return {window, static_cast<double>(name_width), static_cast<double>(std::max(name_width + 1, width - right_margin))};
}

std::vector<TimeMark> time_marks(const TimeScale& scale) {
  // mark_distance leaves room for twelve marks.
  const double marks_with_room = std::max(1.0, (scale.right - scale.left) / room_for_words);
  const double distance = mark_distance(scale.window.length() * 12 / marks_with_room);
  const double last = std::abs(scale.window.end());
  const auto unit = std::find_if(units.begin(), units.end() - 1, [&](const Unit& u) { return last >= u.picoseconds; });
  const int digits = mark_digits(distance / unit->picoseconds);
  std::vector<TimeMark> marks;
  const auto first = static_cast<std::int64_t>(std::ceil(scale.window.begin() / distance));
  const auto end = static_cast<std::int64_t>(std::floor(scale.window.end() / distance));
  for (std::int64_t i = first; i <= end; ++i) {
    const double time = static_cast<double>(i) * distance;
    marks.push_back({time, QString::number(time / unit->picoseconds, 'f', digits) + ' ' + unit->name});
  }
  return marks;
}

}  // namespace plumbline::gui
