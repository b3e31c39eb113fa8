#pragma once
/// \file plan_options.h: one strategy for one question, as flags ask for it or as a plan file says it.

#include <optional>
#include <string>

#include "cli/question_options.h"
#include "cli/strategy_options.h"
#include "planner/session/estimate.h"

namespace plumbline {

class PlanOptions {
 public:
  void declare(CLI::App& app);
  /// Reads the plan file, where one is named. Throws InputError naming the flag or the file.
  [[nodiscard]] session::EstimateRequest request() const;

 private:
  QuestionOptions question_;
  StrategyOptions strategy_;
  std::optional<std::string> plan_file_;
};

}  // namespace plumbline
