#pragma once
/// \file explain.h: why a plan takes its time and memory, and what one change would do: what `plan explain` answers.
///
/// Checked against: tests/unit/planner/session/explain/explain_test.cpp, answers_json_test.cpp.

#include <optional>
#include <string>
#include <vector>

#include "core/io/json.h"
#include "planner/explain/changes.h"
#include "planner/explain/sensitivity.h"
#include "planner/question/task.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

struct Explanation {
  Plan plan;
  std::optional<Plan> against;       ///< another plan to hold it against
  std::string bottleneck;            ///< a sentence without its full stop
  std::vector<Change> changes;       ///< one step along each axis
  std::vector<Sensitivity> assumed;  ///< numbers that nobody measured and that move the answer, largest effect first
  bool complete = true;              ///< false: changes and numbers that were looked at before the stop
};

/// Phases: "changes", "assumed numbers".
[[nodiscard]] Explanation explain(const PricedQuestion& asked, const std::optional<Plan>& against = std::nullopt,
                                  const Task& task = {});

/// What `plan explain --json` prints.
[[nodiscard]] Json to_json(const Explanation& explanation);

}  // namespace plumbline::session
