#pragma once
/// \file timeline_data.h: everything that the timeline of a plan shows, computed once on another thread.
///
/// Checked against: tests/gui/pages/timeline/timeline_data_test.cpp (what `plan simulate --json` prints).

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/simulate/stage_report.h"
#include "gui/page.h"
#include "gui/pages/timeline/lanes.h"
#include "planner/present/table.h"
#include "planner/session/simulate/simulate.h"

namespace plumbline::gui {

struct TimelineData {
  SharedPlan plan;
  session::SimulationAnswer answer;
  std::vector<StageReport> reports;  ///< by stage
  std::vector<Lane> lanes;           ///< by stage
  std::vector<Bytes> capacity;       ///< by stage: of its devices, without the headroom asked for
  std::vector<Lane> measured = {};   ///< by stage: of a recorded run; empty: there is none

  [[nodiscard]] const SimulatedPlan& simulated() const { return answer.simulated; }
  [[nodiscard]] const Simulation& simulation() const { return answer.simulated.simulation; }
  [[nodiscard]] std::size_t stages() const { return lanes.size(); }
  /// Of the recorded step; zero where there is none.
  [[nodiscard]] Picoseconds measured_end() const;
  /// Of the axis: the longer of both steps.
  [[nodiscard]] Picoseconds end() const { return std::max(simulation().timeline.end, measured_end()); }
};
using SharedTimeline = std::shared_ptr<const TimelineData>;

using SharedRecord = std::shared_ptr<const RunRecord>;

/// `record`: of a run of this plan, or nullptr. Nothing where it was stopped first. Throws InputError as
/// session::simulate.
[[nodiscard]] SharedTimeline timeline_data(const SharedPlan& plan, const Task& task = {},
                                           const SharedRecord& record = nullptr);

/// Of each stage: its peak, what it waits, and seconds by cause.
[[nodiscard]] present::Table stage_table(const TimelineData& data);
/// "step 1.24 s, bubble 12.5 %, peak 61.2 GiB on stage 0", and how long the recorded step took.
[[nodiscard]] std::string timeline_words(const TimelineData& data);

}  // namespace plumbline::gui
