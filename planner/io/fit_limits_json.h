#pragma once
/// \file fit_limits_json.h: the most that fits ("plumbline.fit-limits/1", what `plan fit --json` prints without a
/// global batch); written only.
///
/// The keys are those of models/schemas/fit-limits.schema.json. Checked against:
/// tests/unit/planner/io/fit_limits_json_test.cpp, tests/integration/schemas_test.py.

#include "core/io/json.h"
#include "planner/session/fit_limits.h"

namespace plumbline::session {

inline constexpr std::string_view fit_limits_format = "plumbline.fit-limits/1";

[[nodiscard]] Json to_json(const FitLimits& answer);

}  // namespace plumbline::session
