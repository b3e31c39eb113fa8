#pragma once
/// \file timeline_svg.h: a simulated step as a picture: a lane of time for each stage, its memory underneath.
///
/// Answers: an SVG document; time in milliseconds to the right, memory in GiB upwards, all stages on one scale.
/// Model: a lane shows what occupies the rank, a colour for each kind of action, paler for later chunks; the curve
/// shows what is allocated, states grey, up to the largest in each column of pixels; the number alongside it is the
/// peak with what the allocator loses. Beyond 16 stages, evenly chosen ones. Deterministic. Source: core/simulate. Not
/// drawn: messages while they travel. Checked against: tests/unit/core/io/timeline_svg_test.cpp.

#include <string>
#include <vector>

#include "core/simulate/simulation.h"

namespace plumbline {

struct PictureWords {
  std::string title;
  std::string subtitle;
  Bytes capacity{0};                       ///< of a device, drawn as a dashed line; 0: none
  std::vector<Bytes> stage_capacity = {};  ///< instead, of each stage's device in a mixed cluster
};

[[nodiscard]] std::string timeline_svg(const Program& program, const Simulation& simulation, const PictureWords& words);

}  // namespace plumbline
