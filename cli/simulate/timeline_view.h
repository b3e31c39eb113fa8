#pragma once
/// \file timeline_view.h: a simulated step as text: a row per pipeline rank, a column per slot of time.

#include <string>

#include "cli/output/terminal.h"
#include "planner/pricing/simulated.h"

namespace plumbline {

/// F forward, B backward (or its input gradient), W weight gradient, R recompute, C communication that nothing hides,
/// O optimizer, '.' idle: what fills most of the slot. Beyond 16 ranks, evenly chosen ones.
[[nodiscard]] std::string timeline_text(const SimulatedPlan& simulated, const Terminal& terminal);

}  // namespace plumbline
