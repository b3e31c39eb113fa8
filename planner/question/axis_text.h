#pragma once
/// \file axis_text.h: the text of an axis of the strategy as its value, refused in one line that names where it stood.
///
/// Checked against: tests/unit/planner/session/flags/plan_flags_test.cpp, tests/unit/planner/search/space_test.cpp.

#include <string>
#include <string_view>

#include "core/plan/strategy_axes.h"

namespace plumbline {

/// Sets the axis of `strategy`. `where`: the flag, or the part of one. Throws InputError.
void read_axis(const StrategyAxis& axis, std::string_view where, const std::string& text, Strategy& strategy);

}  // namespace plumbline
