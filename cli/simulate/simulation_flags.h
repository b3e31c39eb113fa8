#pragma once
/// \file simulation_flags.h: the flags of `simulate` that change what is simulated: the order, the segments, the speeds
/// of stages.

#include <optional>
#include <string>

#include "planner/session/simulate/simulation_flags.h"

namespace CLI {
class App;
}

namespace plumbline {

class SimulationFlags {
 public:
  void declare(CLI::App& app);
  /// Throws InputError for an order or speeds that do not belong to the strategy.
  [[nodiscard]] session::SimulationRequest request(const Strategy& strategy) const { return flags_.request(strategy); }
  [[nodiscard]] const std::optional<std::string>& speed_text() const { return flags_.stage_speed; }

 private:
  session::SimulationFlags flags_;
};

}  // namespace plumbline
