#pragma once
/// \file fit_json.h: what `plan fit --json` prints: a plan with what would make it fit, and without a global
/// batch the most that fits ("plumbline.fit-limits/1"); written only.
///
/// The keys are those of models/schemas/plan.schema.json and fit-limits.schema.json. Checked against:
/// tests/unit/planner/session/fit/fit_json_test.cpp, tests/integration/schemas_test.py.

#include "core/io/json.h"
#include "planner/session/fit/fit.h"
#include "planner/session/fit/fit_limits.h"

namespace plumbline::session {

inline constexpr std::string_view fit_limits_format = "plumbline.fit-limits/1";

[[nodiscard]] Json to_json(const FitLimits& answer);
/// {"framework","changes","remedies","complete"}; `from`: the plan that was asked about.
[[nodiscard]] Json to_json(const FitAnswer& answer, const Plan& from);
/// The plan with that as "offers".
[[nodiscard]] Json fit_json(const Plan& plan, const FitAnswer& answer);

}  // namespace plumbline::session
