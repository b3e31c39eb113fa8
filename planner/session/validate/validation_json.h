#pragma once
/// \file validation_json.h: measured runs against predictions ("plumbline.validation/1"); written only.
///
/// Checked against: tests/unit/planner/session/answers_json_test.cpp, tests/integration/validate_test.py.

#include "core/io/json.h"
#include "planner/validate/validate.h"

namespace plumbline {

[[nodiscard]] Json to_json(const Validation& validation);

}  // namespace plumbline
