#pragma once
/// \file fit_limits_view.h: the most that fits, and what would make a question fit, as text.

#include <string>

#include "planner/session/fit/fit.h"
#include "planner/session/fit/fit_limits.h"

namespace plumbline {

[[nodiscard]] std::string fit_limits_text(const session::FitLimits& answer);
/// Where no plan of a question fits.
[[nodiscard]] std::string remedies_text(const std::vector<session::Remedy>& remedies);

}  // namespace plumbline
