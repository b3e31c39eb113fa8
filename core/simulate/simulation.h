#pragma once
/// \file simulation.h: one step of a program simulated: seconds by cause that sum to the step, idle time, peak memory.
///
/// Model: the timeline (timeline.h); the causes are those of step_time.h on the rank that works longest: what it does,
/// then waiting until the slowest rank has ended its micro-batches (bubble; messages included), then what the reduction
/// of gradients adds, the slowest optimizer with its copies, and the step's overhead. Where compute runs alongside
/// communication it counts with what it would take alone; what it takes longer, and waiting for gathered parameters, is
/// data parallelism's; waiting for copies to the host and back is offload's. Source: step_time.h, whose breakdown this
/// one is compared with, cause by cause. Not modelled: low and high; they belong to the calibration. Checked against:
/// tests/property/simulation_agreement_test.cpp.

#include "core/simulate/memory_curve.h"
#include "core/simulate/steady_state.h"

namespace plumbline {

struct Simulation {
  Timeline timeline;  ///< when it stalls, nothing else is known but the actions
  std::int32_t busiest_rank = 0;
  TimeBreakdown time;                    ///< of the busiest rank; sums to the step
  std::vector<TimeBreakdown> rank_time;  ///< what each rank does during its micro-batches; no waiting
  std::vector<Picoseconds> idle;         ///< per rank: of the step, when nothing occupies it
  std::vector<MemoryPeak> memory;        ///< per rank
  std::int32_t heaviest_rank = 0;
  std::int64_t actions = 0;
  /// Of a long program, what is not in the timeline (steady_state.h); everything else counts it.
  LeftOut left_out;

  [[nodiscard]] Picoseconds step() const { return timeline.step; }
  /// Collectives of the busiest rank that no compute hides.
  [[nodiscard]] Picoseconds exposed_communication() const;
  [[nodiscard]] Bytes peak_memory() const;
};

[[nodiscard]] Simulation simulate(const Program& program, const ActionTimes& times, double fragmentation_fraction,
                                  const TimelineOptions& options = {});

/// Of a program that was simulated, with what was left out of it put back: every figure is the whole program's. The
/// program is the short one, as it was simulated.
[[nodiscard]] Simulation simulation_of(const Program& program, const ActionTimes& times, Timeline simulated,
                                       double fragmentation_fraction, const TimelineOptions& options,
                                       const LeftOut& left_out = {});

}  // namespace plumbline
