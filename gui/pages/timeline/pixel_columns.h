#pragma once
/// \file pixel_columns.h: how much of each pixel column of a lane each activity takes.
///
/// Zoomed out, thousands of segments lie in one column: their shares are stacked inside the lane, so that no colour is
/// mixed to one that no legend has. Cost: the segments that are seen, not those that are drawn.
/// Checked against: tests/gui/pages/timeline/pixel_columns_test.cpp.

#include <array>
#include <vector>

#include "gui/pages/timeline/lanes.h"
#include "gui/pages/timeline/time_window.h"

namespace plumbline::gui {

/// Of each activity but idle, a part of 1; the rest is idle.
using ColumnShares = std::array<float, all_activities.size()>;

/// `shares` has a column for each pixel, left to right, and is overwritten.
void lane_columns(const Lane& lane, const TimeWindow& window, std::vector<ColumnShares>& shares);

}  // namespace plumbline::gui
