#pragma once
/// \file explanation_json.h: why a plan costs what it costs, as `plan explain --json` prints it; written only.
///
/// Checked against: tests/unit/planner/session/answers_json_test.cpp.

#include "core/io/json.h"
#include "planner/session/explain/explain.h"

namespace plumbline::session {

[[nodiscard]] Json to_json(const Explanation& explanation);

}  // namespace plumbline::session
