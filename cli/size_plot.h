#pragma once
/// \file size_plot.h: how a run scales, as a picture: throughput against GPUs, and the days and dollars of each number.
///
/// Left, both axes logarithmic: tokens per second with the interval of the step, and the line of an efficiency of
/// 100 % from the fewest GPUs on. Right: each number of GPUs at its days and dollars (GPU-hours without a price), the
/// limits as dashed lines. Text in SVG 1.1, byte-identical for the same answer.

#include <string>

#include "planner/session/size.h"

namespace plumbline {

[[nodiscard]] std::string scaling_svg(const session::SizeAnswer& answer);

}  // namespace plumbline
