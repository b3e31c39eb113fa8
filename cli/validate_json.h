#pragma once
/// \file validate_json.h: the answer of `plan validate --json`: DESIGN's contract, with more keys beside it.

#include "core/io/json.h"
#include "planner/validate/validate.h"

namespace plumbline {

[[nodiscard]] Json to_json(const Validation& validation);

}  // namespace plumbline
