#include "gui/pages/timeline/pixel_columns.h"

#include <algorithm>
#include <cmath>

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

constexpr double narrowest = 4;            ///< columns of a segment, in the mean, that are not binned
constexpr std::size_t fewest_binned = 64;  ///< segments; fewer have no pattern

/// Of the segments that are seen; all columns where these are few.
double mean_columns_of_segments(const Lane& lane, const TimeWindow& window, std::size_t columns) {
  const std::size_t first = first_after(lane, window.begin()), last = first_after(lane, window.end());
  const std::size_t seen = std::min(last + 1, lane.segments.size()) - first;
  return seen < fewest_binned ? static_cast<double>(columns) : static_cast<double>(columns) / static_cast<double>(seen);
}

/// Parts of 1 of `shares.size()` equal pieces of the time from `begin` on.
void add_segments(const Lane& lane, double begin, double piece, std::vector<ColumnShares>& shares) {
  std::fill(shares.begin(), shares.end(), ColumnShares{});
  const double end = begin + piece * static_cast<double>(shares.size());
  for (std::size_t i = first_after(lane, begin); i < lane.segments.size(); ++i) {
    const Segment& segment = lane.segments[i];
    const auto start = static_cast<double>(segment.span.start.value());
    if (start >= end) return;
    add_span((start - begin) / piece, (static_cast<double>(segment.span.end.value()) - begin) / piece,
             static_cast<std::size_t>(segment.activity), shares);
  }
}

/// Picoseconds: a power of two with about sixteen segments, four to 48 columns wide.
double bin_length(double columns_of_segment, double picoseconds_per_column) {
  constexpr double segments = 16, fewest_columns = 4, most_columns = 24;
  const double wide = std::clamp(segments * columns_of_segment, fewest_columns, most_columns);
  return std::exp2(std::ceil(std::log2(wide * picoseconds_per_column)));
}

void fill_from_bins(const Lane& lane, const TimeWindow& window, double bin, std::vector<ColumnShares>& shares) {
  const double per_column = window.length() / static_cast<double>(shares.size());
  const double begin = std::floor(window.begin() / bin) * bin;
  std::vector<ColumnShares> bins(static_cast<std::size_t>(std::ceil((window.end() - begin) / bin)));
  add_segments(lane, begin, bin, bins);
  for (std::size_t column = 0; column < shares.size(); ++column) {
    const double at = window.begin() + (static_cast<double>(column) + 0.5) * per_column;
    const auto index = std::min(bins.size() - 1, static_cast<std::size_t>((at - begin) / bin));
    // Behind the step there is no time that a share could be of.
    const double bin_begin = begin + static_cast<double>(index) * bin;
    const double inside = std::clamp(window.whole() - bin_begin, per_column, bin);
    for (std::size_t a = 0; a < shares[column].size(); ++a)
      shares[column][a] = std::min(1.F, bins[index][a] * static_cast<float>(bin / inside));
  }
}

}  // namespace

bool shows_bins(const Lane& lane, const TimeWindow& window, std::size_t columns) {
  return columns > 0 && mean_columns_of_segments(lane, window, columns) < narrowest;
}

void lane_columns(const Lane& lane, const TimeWindow& window, std::vector<ColumnShares>& shares) {
  if (shares.empty()) return;
  const double per_column = window.length() / static_cast<double>(shares.size());
  const double of_segment = mean_columns_of_segments(lane, window, shares.size());
  if (of_segment < narrowest) return fill_from_bins(lane, window, bin_length(of_segment, per_column), shares);
  add_segments(lane, window.begin(), per_column, shares);
}

}  // namespace plumbline::gui
