#pragma once
/// \file validate_plot.h: predicted against measured as a picture: step time on the left, peak memory on the right.
///
/// Both axes logarithmic, the diagonal with the band of 10 % around it, one colour and shape per source; runs that
/// prove less (inferred, doubtful) are hollow. Text in SVG 1.1, byte-identical for the same runs.

#include <string>

#include "planner/validate/validate.h"

namespace plumbline {

[[nodiscard]] std::string validation_svg(const Validation& validation);

}  // namespace plumbline
