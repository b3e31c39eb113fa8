#pragma once
/// \file next_stack.h: what would be said of a plan by the stack that was measured next nearest to its question.
///
/// Two stacks that were measured about as near and say different things show how far a default carries. Checked
/// against: tests/unit/planner/session/search/next_stack_test.cpp.

#include <optional>
#include <string>

#include "core/plan/plan.h"
#include "planner/question/question.h"

namespace plumbline::session {

struct NextStack {
  std::string stack;
  Seconds step_time;      ///< of the same strategy and recipe
  double step_ratio = 1;  ///< over what the stack that was taken says
  bool fits = true;
  bool was_measured = false;  ///< whether any run of it was
};

/// Nothing where the stack was named, no other was eligible, or the other's step is too long to be priced.
[[nodiscard]] std::optional<NextStack> next_stack(const Question& question, const Plan& plan);

}  // namespace plumbline::session
