#pragma once
/// \file pixel_columns.h: how much of each pixel column of a lane each activity takes.
///
/// Zoomed out, thousands of segments lie in one column: their shares are stacked inside the lane, so that no colour is
/// mixed to one that no legend has. Where segments are about as narrow as columns, which ones a column catches would
/// beat against them (moire): then columns share bins of time, of many segments each, that begin at multiples of their
/// length, so that they stay where they are while the view moves. Cost: the segments that are seen, not those that are
/// drawn.
/// Checked against: tests/gui/pages/timeline/pixel_columns_test.cpp.

#include <array>
#include <cstddef>
#include <vector>

#include "gui/pages/timeline/lanes.h"
#include "gui/pages/timeline/time_window.h"

namespace plumbline::gui {

/// Of each activity but idle, a part of 1; the rest is idle.
using ColumnShares = std::array<float, all_activities.size()>;

/// Whether the lane is shown by bins of time there.
[[nodiscard]] bool shows_bins(const Lane& lane, const TimeWindow& window, std::size_t columns);

/// `shares` has a column for each pixel, left to right, and is overwritten.
void lane_columns(const Lane& lane, const TimeWindow& window, std::vector<ColumnShares>& shares);

}  // namespace plumbline::gui
