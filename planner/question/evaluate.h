#pragma once
/// \file evaluate.h: one legal strategy priced in full: the answer of `fit` and `estimate`, and of every ranked plan.

#include "core/plan/plan.h"
#include "planner/question/question.h"

namespace plumbline {

[[nodiscard]] Plan evaluate(const Question& question, const Strategy& strategy);

}  // namespace plumbline
