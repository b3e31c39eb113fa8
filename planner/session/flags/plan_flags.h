#pragma once
/// \file plan_flags.h: one strategy for one question: as flags ask for it, or as a plan file or launch files say it.
///
/// A plan file and launch files are read by whoever asks (plan_file.h, import.h), once the flags beside them are known
/// to be none that they say too.
/// Checked against: tests/unit/planner/session/flags/plan_flags_test.cpp.

#include <cstdint>
#include <string>

#include "planner/session/estimate.h"
#include "planner/session/import/import.h"
#include "planner/session/question_flags.h"
#include "planner/session/strategy_flags.h"

namespace plumbline::session {

/// What is meant where no flag of a strategy is given.
enum class NoStrategy : std::uint8_t {
  plain,  ///< no parallelism but data parallelism, micro-batches of one sequence
  best    ///< the best that a search finds (best_strategy)
};

struct PlanFlags {
  QuestionFlags question;
  StrategyFlags strategy;

  /// Throws InputError for a flag that a plan file says too.
  void require_allowed_with_plan() const;
  /// Throws InputError for a flag that launch files say too.
  void require_allowed_with_import() const;

  /// Neither a plan file nor launch files. Throws InputError naming the flag.
  [[nodiscard]] StrategyRequest request(NoStrategy none = NoStrategy::plain) const;
  /// A plan file, with the flags that may be given beside it.
  [[nodiscard]] PlanRequest request_of(PlanRequest plan) const;
  /// Launch files, with the question's flags beside them; its own question is not read.
  [[nodiscard]] StrategyRequest request_of(ImportRequest files) const;
};

}  // namespace plumbline::session
