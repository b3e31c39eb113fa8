#pragma once
/// \file simulation_json.h: a simulated step as the JSON of `simulate`; written only.
///
/// "time" sums to "step_time_s". Of each stage: idle seconds and busy seconds by cause, and its peak: the instant, the
/// action, bytes by class and the largest buffers alive; "peak" says so of the heaviest stage.
/// Checked against: tests/integration/simulate_test.py.

#include <optional>
#include <string>
#include <vector>

#include "core/io/json.h"
#include "core/simulate/simulation.h"

namespace plumbline {

/// What was simulated besides the strategy, and what it is compared with.
struct SimulationSetting {
  std::string schedule;              ///< the named one, whose closed form is compared
  Seconds closed_form{0};            ///< its step
  std::optional<std::string> order;  ///< the file of the order, when it is not the schedule's own
  std::vector<double> stage_speed;   ///< empty: 1 for all
  std::optional<Picoseconds> step_at_speed_1;
};

[[nodiscard]] Json to_json(const Program& program, const Simulation& simulation, const SimulationSetting& setting);

}  // namespace plumbline
