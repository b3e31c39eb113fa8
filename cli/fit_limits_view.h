#pragma once
/// \file fit_limits_view.h: the most that fits, as text.

#include <string>

#include "planner/session/fit_limits.h"

namespace plumbline {

[[nodiscard]] std::string fit_limits_text(const session::FitLimits& answer);

}  // namespace plumbline
