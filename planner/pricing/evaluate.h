#pragma once
/// \file evaluate.h: one legal strategy priced in full: the answer of `fit` and `estimate`, and of every ranked plan.

#include "core/plan/plan.h"
#include "planner/question/question.h"

namespace plumbline {

/// The step of a plan that is not priceable is longer than its prediction says.
/// `known`: programs of the question's blocks (priced.h).
[[nodiscard]] Plan evaluate(const Question& question, const Strategy& strategy, KnownPrograms* known = nullptr);
/// Whether the plan's step is within what is priced: at most 24 hours.
[[nodiscard]] bool is_priceable(const Plan& plan);
/// Throws InputError where it is not.
void require_priceable(const Plan& plan);

}  // namespace plumbline
