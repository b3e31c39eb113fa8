#pragma once
/// \file stage_report.h: what each stage of a simulated step did, when its memory peaked, and what was alive then.
///
/// Answers: seconds by cause, the peak's instant and action, and the buffers behind the peak, largest first.
/// Model: a rank's time is its actions' (simulation.h) and the step's reductions and optimizer; its peak is when
/// the action that allocates the last of it starts (memory_curve.h). Source: simulation.h, memory_curve.h. Not
/// modelled: waiting, which is `Simulation::idle`. Checked against: tests/unit/core/simulate/stage_report_test.cpp
/// (worked by hand; live buffers sum to the peak).

#include <string>

#include "core/simulate/simulation.h"

namespace plumbline {

struct StageReport {
  TimeBreakdown busy;         ///< `pipeline_bubble`: messages that the rank waits out while they travel
  Picoseconds peak_at{0};     ///< from the step's begin
  std::string peak_action;    ///< empty: before the first action
  std::vector<Buffer> alive;  ///< at the peak, largest first
};

[[nodiscard]] std::vector<StageReport> stage_reports(const Program& program, const Simulation& simulation);

/// Buffers that differ in their micro-batch only.
struct BufferFamily {
  Buffer first;
  std::int64_t buffers = 0;
  std::vector<std::int32_t> micro_batches;  ///< ascending; empty: no micro-batch owns them
  Bytes total{0};
};
/// Largest total first.
[[nodiscard]] std::vector<BufferFamily> families(const std::vector<Buffer>& buffers);

}  // namespace plumbline
