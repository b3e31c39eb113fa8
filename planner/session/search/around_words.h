#pragma once
/// \file around_words.h: what the changes around a plan come to, in sentences.
///
/// Checked against: tests/unit/planner/session/search/around_test.cpp.

#include <string>
#include <vector>

#include "planner/session/search/around.h"

namespace plumbline::present {

/// What the best change gains, whether that is beyond the model's noise, and what any number of changes would gain.
[[nodiscard]] std::vector<std::string> around_words(const session::AroundAnswer& answer, Objective objective);

}  // namespace plumbline::present
