#pragma once
/// \file comparison_json.h: a plan held against its run (the contract of `plan compare --json`); written only.
///
/// Checked against: tests/unit/planner/session/answers_json_test.cpp.

#include "core/io/json.h"
#include "planner/compare/compare.h"

namespace plumbline {

[[nodiscard]] Json to_json(const Comparison& comparison);

}  // namespace plumbline
