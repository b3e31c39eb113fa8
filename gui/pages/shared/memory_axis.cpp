#include "gui/pages/shared/memory_axis.h"

#include <algorithm>

#include "core/io/svg.h"

namespace plumbline::gui {
namespace {

constexpr std::int64_t far_below = 8;
constexpr double marks_of_distance = 12;  // mark_distance() sets about a dozen

}  // namespace

Bytes memory_axis_end(Bytes held, Bytes device) {
  const Bytes least(1);
  return held.value() < device.value() / far_below ? std::max(held, least) : std::max({held, device, least});
}

std::vector<MemoryMark> memory_marks(Bytes end, double count) {
  const bool is_small = end < 1_GiB;
  const Bytes unit = is_small ? 1_MiB : 1_GiB;
  const double most = end / unit;
  const double distance = mark_distance(most * marks_of_distance / count);
  std::vector<MemoryMark> marks;
  for (int i = 0; i * distance <= most; ++i)
    marks.push_back({Bytes(static_cast<std::int64_t>(i * distance * static_cast<double>(unit.value()))),
                     QString::number(i * distance, 'f', mark_digits(distance)) + (is_small ? " MiB" : " GiB")});
  return marks;
}

}  // namespace plumbline::gui
