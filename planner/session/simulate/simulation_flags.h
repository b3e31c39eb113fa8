#pragma once
/// \file simulation_flags.h: what is simulated besides a strategy, as the texts of its flags, refused in the same words
/// by whoever asks.
///
/// Checked against: tests/unit/planner/session/flags/plan_flags_test.cpp, tests/integration/simulate_test.py.

#include <optional>
#include <string>
#include <vector>

#include "core/base/option.h"
#include "planner/session/simulate/simulate.h"

namespace plumbline::session {

/// "3=0.8,7=0.5" as one speed per pipeline stage, 1 where none is named. Throws InputError.
[[nodiscard]] std::vector<double> stage_speeds(const std::string& text, std::int32_t stages);

struct SimulationFlags {
  std::optional<std::string> order_file, stage_speed;
  bool by_block = false;

  /// Reads the file of the order. Throws InputError for an order or speeds that do not belong to the strategy.
  [[nodiscard]] SimulationRequest request(const Strategy& strategy) const;
};

[[nodiscard]] const Options<SimulationFlags>& simulation_options();

}  // namespace plumbline::session
