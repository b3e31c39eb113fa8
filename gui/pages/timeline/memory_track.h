#pragma once
/// \file memory_track.h: what a stage holds at every instant of a simulated step, and which buffers these are.
///
/// Answers: bytes by class after every change; the buffers alive at one of them.
/// Model: that of core/simulate/memory_curve.h, whose allocator works in order of issue. On the axis of time, what an
/// action in order allocates is there when it starts, and what it releases is gone when it ends; an action alongside
/// others is issued with the one in order before it. Not in it: what the allocator loses (MemoryClass::fragmentation),
/// which is known of the peak alone. Of a program too long to be shown whole (lanes.h), the gap holds what was there
/// before it. Checked against: tests/gui/pages/timeline/memory_track_test.cpp (peak and buffers of the session's
/// answer).

#include <cstddef>
#include <vector>

#include "core/simulate/stage_report.h"
#include "planner/pricing/simulated.h"

namespace plumbline::gui {

/// After the allocations of an action, or after its releases.
struct MemorySample {
  Picoseconds at{0};
  std::int32_t action = -1;  ///< -1: before the first
  Moment moment = Moment::end;
  std::int32_t later = 0;  ///< micro-batches to add to those of the buffers
  MemoryBreakdown memory;
};

struct MemoryTrack {
  std::vector<MemorySample> samples;  ///< by time; at least one
  std::size_t peak = 0;               ///< the sample at which the stage's peak is
};

[[nodiscard]] MemoryTrack memory_track(const SimulatedPlan& simulated, std::size_t stage);
/// The last one that is not later than `time`.
[[nodiscard]] std::size_t sample_at(const MemoryTrack& track, double time);
/// Largest first. States that the stage always holds are there too.
[[nodiscard]] std::vector<Buffer> buffers_at(const SimulatedPlan& simulated, std::size_t stage,
                                             const MemorySample& sample);

}  // namespace plumbline::gui
