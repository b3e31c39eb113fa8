#pragma once
/// \file memory_columns.h: for each pixel column, the sample of a memory track that holds most in it.
///
/// Checked against: tests/gui/pages/timeline/memory_track_test.cpp.

#include <vector>

#include "gui/pages/timeline/memory_track.h"
#include "gui/pages/timeline/time_window.h"

namespace plumbline::gui {

/// Indices of samples, left to right. What a sample holds lasts until the next one.
[[nodiscard]] std::vector<std::size_t> memory_columns(const MemoryTrack& track, const TimeWindow& window,
                                                      std::size_t columns);

}  // namespace plumbline::gui
