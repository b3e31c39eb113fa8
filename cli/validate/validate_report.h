#pragma once
/// \file validate_report.h: docs/fidelity.md: what `plan validate` found, as Markdown.

#include <string>

#include "planner/validate/validate.h"

namespace plumbline {

/// `picture`: the file alongside it, or empty.
[[nodiscard]] std::string validation_markdown(const Validation& validation, const std::string& picture);

}  // namespace plumbline
