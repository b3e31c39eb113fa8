#include "gui/pages/timeline/pixel_columns.h"

#include <algorithm>

namespace plumbline::gui {
namespace {

void add_span(double from, double to, std::size_t activity, std::vector<ColumnShares>& shares) {
  const auto columns = static_cast<double>(shares.size());
  const double begin = std::clamp(from, 0.0, columns);
  const double end = std::clamp(to, 0.0, columns);
  if (end <= begin) return;
  const auto first = static_cast<std::size_t>(begin);
  const auto last = std::min(shares.size() - 1, static_cast<std::size_t>(end));
  if (first == last) {
    shares[first][activity] += static_cast<float>(end - begin);
    return;
  }
  shares[first][activity] += static_cast<float>(static_cast<double>(first) + 1 - begin);
  for (std::size_t column = first + 1; column < last; ++column) shares[column][activity] = 1;
  shares[last][activity] += static_cast<float>(end - static_cast<double>(last));
}

}  // namespace

void lane_columns(const Lane& lane, const TimeWindow& window, std::vector<ColumnShares>& shares) {
  std::fill(shares.begin(), shares.end(), ColumnShares{});
  if (shares.empty()) return;
  const double columns_per_picosecond = static_cast<double>(shares.size()) / window.length();
  for (std::size_t i = first_after(lane, window.begin()); i < lane.segments.size(); ++i) {
    const Segment& segment = lane.segments[i];
    const auto start = static_cast<double>(segment.span.start.value());
    if (start >= window.end()) return;
    add_span((start - window.begin()) * columns_per_picosecond,
             (static_cast<double>(segment.span.end.value()) - window.begin()) * columns_per_picosecond,
             static_cast<std::size_t>(segment.activity), shares);
  }
}

}  // namespace plumbline::gui
