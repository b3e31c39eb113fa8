#pragma once
/// \file strategy_options.h: the flags of a strategy, with what absent ones mean.

#include "planner/session/strategy_flags.h"

namespace CLI {
class App;
}

namespace plumbline {

class StrategyOptions {
 public:
  void declare(CLI::App& app);
  [[nodiscard]] const session::StrategyFlags& flags() const { return flags_; }

 private:
  session::StrategyFlags flags_;
};

}  // namespace plumbline
