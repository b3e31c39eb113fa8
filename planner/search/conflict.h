#pragma once
/// \file conflict.h: why no strategy of a question has all the values that somebody fixed.
///
/// Answers a message that names an axis whose values are impossible: by themselves, else alongside the other fixed
/// ones, and what they could be. Model: the enumeration of space.h with one axis alone, or all but one. Not modelled:
/// which of three or more axes exclude each other.
/// Checked against: tests/unit/planner/search/search_test.cpp.

#include "core/base/errors.h"
#include "planner/search/space.h"

namespace plumbline {

/// For a space without a strategy.
[[nodiscard]] InputProblem conflict(const Question& question, const SearchSpace& space);

}  // namespace plumbline
