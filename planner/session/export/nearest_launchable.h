#pragma once
/// \file nearest_launchable.h: the strategies one axis away from one that a framework does not launch.
///
/// Checked against: tests/unit/planner/session/export/export_test.cpp.

#include <vector>

#include "planner/frameworks/framework.h"
#include "planner/question/question.h"

namespace plumbline::session {

/// Strategies that differ in one axis, with a value that the record has; those that are not legal are left out.
[[nodiscard]] std::vector<Strategy> one_axis_away(const Strategy& strategy, const FrameworkRecord& record,
                                                  const Question& question);

}  // namespace plumbline::session
