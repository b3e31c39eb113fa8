#pragma once
/// \file validate.h: predictions against measured runs: what `plan validate` answers.
///
/// Checked against: tests/unit/planner/session/validate/validate_test.cpp.

#include <optional>

#include "core/measurement/run_rules.h"
#include "planner/question/task.h"
#include "planner/validate/validate.h"

namespace plumbline::session {

struct ValidationRequest {
  std::optional<std::vector<RunSet>> runs;  ///< nothing: those that are published
  ValidationFilter filter;
};

/// What was predicted until it was stopped. Throws InputError where no run bears a name of the filter, in the words of
/// --source and --device. Progress: phase "runs".
[[nodiscard]] Validation validate(const ValidationRequest& request, const Task& task = {});

/// What fills fields that are not published: of each published source, then what holds for all.
[[nodiscard]] RunRuleTable assumptions();

}  // namespace plumbline::session
