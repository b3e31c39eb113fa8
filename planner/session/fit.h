#pragma once
/// \file fit.h: what would make a plan fit: what `plan fit` answers alongside the priced plan.
///
/// Whether it fits, and why not, is the plan's own verdict (estimate.h).
/// Checked against: tests/unit/planner/session/explain_test.cpp.

#include <vector>

#include "planner/explain/changes.h"
#include "planner/frameworks/framework.h"
#include "planner/question/task.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

struct FitAnswer {
  bool fits = false;
  std::vector<Change> changes;  ///< the cheapest that make it fit, fastest first; none where it fits
  bool complete = true;         ///< whether all were looked at that are to be
};

/// Phase: "changes". `framework`: only changes that it can launch.
[[nodiscard]] FitAnswer fit(const PricedQuestion& asked, const Task& task = {}, Framework framework = Framework::any);

}  // namespace plumbline::session
