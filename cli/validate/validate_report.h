#pragma once
/// \file validate_report.h: docs/fidelity.md: what `plan validate` found, as Markdown.

#include <string>

#include "planner/validate/validate.h"

namespace plumbline {

/// Files alongside the page, as it names them; empty: none.
struct ReportPictures {
  std::string validation;  ///< validate_plot.h
  std::string benchmarks;  ///< benchmark_plot.h
};

[[nodiscard]] std::string validation_markdown(const Validation& validation, const ReportPictures& pictures);

}  // namespace plumbline
