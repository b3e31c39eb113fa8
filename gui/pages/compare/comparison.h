#pragma once
/// \file comparison.h: several plans side by side: what they choose and what is predicted, as bars and as a table.
///
/// Checked against: tests/gui/pages/compare_page_test.cpp.

#include <vector>

#include "core/plan/plan.h"
#include "gui/widgets/stacked_bars.h"
#include "planner/present/table.h"

namespace plumbline::gui {

/// "A", "B", ...
[[nodiscard]] QString letter_of(std::size_t plan);
/// The causes of each plan's step time.
[[nodiscard]] std::vector<Bar> time_bars(const std::vector<Plan>& plans);
/// The classes of memory on each plan's heaviest stage, with what a GPU holds.
[[nodiscard]] std::vector<Bar> memory_bars(const std::vector<Plan>& plans);
/// A row for each choice or figure in which some plan differs from the first, in the words of `plan explain --against`;
/// a column for each plan.
[[nodiscard]] present::Table side_by_side(const std::vector<Plan>& plans);

}  // namespace plumbline::gui
