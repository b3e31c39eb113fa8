#pragma once
/// \file compare_view.h: a comparison of plan and run as text.

#include <string>

#include "cli/output/terminal.h"
#include "planner/compare/compare.h"

namespace plumbline {

[[nodiscard]] std::string comparison_text(const Comparison& comparison, const Terminal& terminal);

}  // namespace plumbline
