#pragma once
/// \file benchmark_report.h: the sections of docs/fidelity.md on runs that are held out of every fit.

#include <string>

#include "planner/validate/validate.h"

namespace plumbline {

/// "Official benchmarks", "Public reports" and "What is still wrong" of both; empty where no run is held out.
/// `picture`: of cli/validate/benchmark_plot.h as the page names it, or empty.
[[nodiscard]] std::string held_out_markdown(const Validation& validation, const std::string& picture);

}  // namespace plumbline
