#pragma once
/// \file lanes.h: what each pipeline stage does at every instant of a simulated step.
///
/// Answers: for a stage one lane that says what occupies it, and one lane for each stream (compute, each communicator,
/// copies). Times are those of the simulation, in picoseconds from the step's begin.
/// Model: what runs in order fills the stage's lane; where that leaves a gap, what runs alongside shows, so that
/// communication and copies in this lane are those that nothing hides; what is left is idle. The periods that the
/// simulation left out (core/simulate/steady_state.h) are put back one by one; of a program so long that this would be
/// more than `most_segments`, the gap is said to be left out. Not modelled: messages in transit occupy nobody; they are
/// in the pipeline lanes alone. Checked against: tests/gui/pages/timeline/lanes_test.cpp (busy and idle time of the
/// simulation).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measurement/run_record.h"
#include "gui/palette.h"
#include "planner/pricing/simulated.h"

namespace plumbline::gui {

struct Segment {
  Span span;
  Activity activity = Activity::idle;
  std::int32_t chunk = -1;
  std::int32_t micro_batch = -1;
};

/// Ascending and disjoint.
struct Lane {
  std::string name;
  std::vector<Segment> segments;
  std::optional<Span> left_out;
};

/// Over all stages.
inline constexpr std::int64_t most_segments = std::int64_t{1} << 19;

/// Whether every period of a long program is shown one by one.
[[nodiscard]] bool shows_all(const SimulatedPlan& simulated);

/// "stage 0", ...: what occupies each of them.
[[nodiscard]] std::vector<Lane> stage_lanes(const SimulatedPlan& simulated);
/// "compute", "tensor", ... of one stage; messages that travel at one time have lanes of their own.
[[nodiscard]] std::vector<Lane> stream_lanes(const SimulatedPlan& simulated, std::size_t stage);

/// The traced step of a run: of each of `stages` what its first rank did, "measured". Empty: the record has no such
/// step. What runs on other streams than compute shows where compute leaves a gap; waiting for a message is
/// communication, because a record does not tell the two apart.
[[nodiscard]] std::vector<Lane> measured_lanes(const RunRecord& record, std::size_t stages);

/// The first segment that ends after `time`.
[[nodiscard]] std::size_t first_after(const Lane& lane, double time);
/// The segment at an instant; nullptr: idle.
[[nodiscard]] const Segment* segment_at(const Lane& lane, double time);

}  // namespace plumbline::gui
