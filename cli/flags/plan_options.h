#pragma once
/// \file plan_options.h: one strategy for one question, as flags ask for it, or as a plan file or launch files say it.

#include <optional>
#include <string>
#include <vector>

#include "cli/flags/question_options.h"
#include "cli/flags/strategy_options.h"
#include "planner/session/fit/fit_limits.h"
#include "planner/session/flags/plan_flags.h"

namespace plumbline {

class PlanOptions {
 public:
  void declare(CLI::App& app);
  /// Reads the plan file or the launch files, where they are named. Throws InputError naming the flag or the file.
  [[nodiscard]] session::EstimateRequest request(session::NoStrategy none = session::NoStrategy::plain) const;
  /// Neither a plan file, launch files nor a global batch is given.
  [[nodiscard]] bool is_without_batch() const {
    return !plan_file_ && imported_files_.empty() && !import_target_ && !question_.has_global_batch();
  }
  /// Whose launch files are read; empty: none are.
  [[nodiscard]] const std::optional<std::string>& import_target() const { return import_target_; }
  /// The question as far as it is given, and the strategy where a flag of it is.
  [[nodiscard]] session::FitLimitsRequest limits_request() const;

 private:
  [[nodiscard]] session::PlanFlags flags() const;
  [[nodiscard]] session::StrategyRequest imported() const;

  QuestionOptions question_;
  StrategyOptions strategy_;
  std::optional<std::string> plan_file_;
  std::vector<std::string> imported_files_;
  std::optional<std::string> import_target_;
};

}  // namespace plumbline
