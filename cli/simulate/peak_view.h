#pragma once
/// \file peak_view.h: the memory peak of a simulated step as text: where, when, at which action, and what fills it.

#include <string>

#include "planner/pricing/simulated.h"

namespace plumbline {

/// Of the heaviest stage: a line, the classes, then the largest buffers that come and go, alike ones together.
[[nodiscard]] std::string peak_text(const SimulatedPlan& simulated);

}  // namespace plumbline
