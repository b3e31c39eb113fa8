#pragma once
/// \file simulation_flags.h: the flags of `simulate` that change what is simulated: the order, the segments, the speeds
/// of stages.

#include <optional>
#include <string>
#include <vector>

#include "planner/session/simulate.h"

namespace CLI {
class App;
}

namespace plumbline {

/// "3=0.8,7=0.5" as one speed per pipeline stage, 1 where none is named. Throws InputError.
[[nodiscard]] std::vector<double> stage_speeds(const std::string& text, std::int32_t stages);

class SimulationFlags {
 public:
  void declare(CLI::App& app);
  /// Throws InputError for an order or speeds that do not belong to the strategy.
  [[nodiscard]] session::SimulationRequest request(const Strategy& strategy) const;
  [[nodiscard]] const std::optional<std::string>& speed_text() const { return stage_speed_; }

 private:
  std::optional<std::string> order_file_;
  std::optional<std::string> stage_speed_;
  bool by_block_ = false;
};

}  // namespace plumbline
