#pragma once
/// \file changes_json.h: what changes of a plan come to, as `plan explain`, `fit` and `search --around` print them;
/// written only.
///
/// Checked against: tests/unit/planner/session/answers_json_test.cpp.

#include <vector>

#include "core/io/json.h"
#include "planner/explain/changes.h"

namespace plumbline::session {

/// {"change","flags","strategy","step_time_s","step_time_change","peak_memory_bytes","margin_bytes","fits",
/// "near_edge"}: the flags are those of the changed strategy, the change of the step time is a part of that of `from`.
[[nodiscard]] Json change_json(const Change& change, const Plan& from);
[[nodiscard]] Json changes_json(const std::vector<Change>& changes, const Plan& from);

}  // namespace plumbline::session
