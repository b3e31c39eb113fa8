#pragma once
/// \file benchmark_plot.h: errors of official benchmarks over the number of GPUs, as a picture.
///
/// GPUs on a logarithmic axis, error in percent (predicted / measured - 1) on the other, logarithmic of the ratio; one
/// colour for each benchmark, one mark for each system, a line through the mean errors of one benchmark on one system;
/// the band of 10 %. Text in SVG 1.1, byte-identical for the same runs.

#include <string>

#include "planner/validate/validate.h"

namespace plumbline {

[[nodiscard]] std::string benchmarks_svg(const Validation& validation);

}  // namespace plumbline
