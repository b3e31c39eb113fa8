#pragma once
/// \file around_view.h: what to change of a plan, as text.

#include <string>

#include "cli/output/terminal.h"
#include "planner/session/search/around.h"

namespace plumbline {

/// The plan as it is, the changes that help most, and what more of them would gain.
[[nodiscard]] std::string around_text(const session::AroundAnswer& answer, Objective objective,
                                      const Terminal& terminal);

}  // namespace plumbline
