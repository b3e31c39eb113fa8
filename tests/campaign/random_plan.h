#pragma once
/// \file random_plan.h: questions with legal strategies at random: every axis that `plan estimate` takes.
///
/// Degrees are all divisors of the GPU count (3, 5, 6, 7 and 12 as often as powers of two), every schedule, split,
/// recompute mode, precision, optimizer and software stack. What is drawn is legal by core/plan/legality.h; nothing
/// says that it fits or is sensible.

#include "tests/campaign/asked_plan.h"

namespace plumbline {

struct PlanSizes {
  std::int64_t most_devices = 20'000;
  std::int64_t most_micro_batches = 64;  ///< about; a multiple of the stages may be more
};

struct LegalPlan {
  AskedPlan asked;
  Question question;
};
[[nodiscard]] LegalPlan random_plan(Draw& draw, const PlanSizes& sizes = {});
/// Another strategy, legal or not, of the same question.
[[nodiscard]] Strategy careless_strategy(const Question& question, Draw& draw);

}  // namespace plumbline
