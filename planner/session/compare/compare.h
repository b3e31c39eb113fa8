#pragma once
/// \file compare.h: a plan held against a record of its run: what `plan compare` answers.
///
/// Checked against: tests/unit/planner/session/compare/compare_test.cpp.

#include <optional>
#include <string>

#include "planner/compare/compare.h"
#include "planner/question/task.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

/// A plan simulated as the runtime executes it: every micro-batch, in single executions of blocks.
[[nodiscard]] SimulatedPlan simulated_as_run(const PricedQuestion& asked);

/// Nothing where it was stopped first. Throws InputError when the record, called `record_name` in messages, is of
/// another plan (require_same_plan).
[[nodiscard]] std::optional<Comparison> compare(const PricedQuestion& asked, const RunRecord& record,
                                                const std::string& record_name, const Task& task = {});

}  // namespace plumbline::session
