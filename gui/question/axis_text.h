#pragma once
/// \file axis_text.h: a constraint as it is typed, such as "8", "1,2,4", "2-8" or "<=4", as values of an axis.
///
/// Checked against: tests/gui/question/axis_text_test.cpp.

#include <string>
#include <string_view>

namespace plumbline::gui {

/// "2|3|4": as --fix takes it. `axis`: "tp", as --fix spells it. Throws InputError for a range without end, upside
/// down, or of more than 1024 values; what the values mean is checked by the search.
[[nodiscard]] std::string axis_values(std::string_view axis, std::string_view text);

}  // namespace plumbline::gui
