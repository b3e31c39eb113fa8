#pragma once
/// \file simulate.h: a priced strategy lowered and simulated, action by action: what `plan simulate` answers.
///
/// Checked against: tests/unit/planner/session/simulate/simulate_test.cpp.

#include <optional>
#include <string>
#include <vector>

#include "core/io/simulation_json.h"
#include "planner/pricing/simulated.h"
#include "planner/question/task.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

/// Speeds of stages that are simulated: beyond what any two accelerators in use differ by, a figure is a slip of the
/// pen.
inline constexpr double slowest_stage = 0.01;
inline constexpr double fastest_stage = 100;

struct SimulationRequest {
  Granularity granularity = Granularity::chunk;
  std::optional<ComputeSchedule> order;  ///< in place of the schedule's own; of the strategy's shape (pipeline_shape)
  std::string order_name;                ///< of its file
  std::vector<double> stage_speeds;      ///< relative compute speed of each pipeline stage, 1: as priced; empty: all 1
};

struct SimulationAnswer {
  SimulationRequest request;
  SimulatedPlan simulated;
  std::optional<Picoseconds> step_at_speed_1;  ///< where speeds were given: the step with all of them 1
};

/// Nothing where it was stopped first; a stop takes effect between simulates. Throws InputError for an order of another
/// shape and for speeds that are no speeds. Phase: "simulated".
[[nodiscard]] std::optional<SimulationAnswer> simulate(const PricedQuestion& asked,
                                                       const SimulationRequest& request = {}, const Task& task = {});

/// The order of compute actions that was simulated.
[[nodiscard]] ComputeSchedule order_of(const PricedQuestion& asked, const SimulationRequest& request);
/// What the answer is written with (core/io/simulation_json.h).
[[nodiscard]] SimulationSetting setting_of(const PricedQuestion& asked, const SimulationAnswer& answer);

}  // namespace plumbline::session
