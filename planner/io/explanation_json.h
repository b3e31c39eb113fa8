#pragma once
/// \file explanation_json.h: why a plan costs what it costs, as `plan explain --json` prints it; written only.
///
/// Checked against: tests/unit/planner/io/answers_json_test.cpp.

#include "core/io/json.h"
#include "planner/session/explain.h"

namespace plumbline::session {

/// {"change","strategy","step_time_s","peak_memory_bytes","fits"}
[[nodiscard]] Json change_json(const Change& change);
[[nodiscard]] Json to_json(const Explanation& explanation);

}  // namespace plumbline::session
