#pragma once
/// \file compare_view.h: a comparison of plan and run as text and as JSON (the contract of `plan compare --json`).

#include <string>

#include "cli/terminal.h"
#include "core/io/json.h"
#include "planner/compare/compare.h"

namespace plumbline {

[[nodiscard]] std::string comparison_text(const Comparison& comparison, const Terminal& terminal);
[[nodiscard]] Json comparison_json(const Comparison& comparison);

}  // namespace plumbline
