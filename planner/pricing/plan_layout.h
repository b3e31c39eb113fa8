#pragma once
/// \file plan_layout.h: where everything of a plan lies: layers per stage and chunk, what each layer replays, and the
/// groups of ranks.

#include "core/cost/stage_cost.h"
#include "core/plan/plan.h"
#include "planner/question/question.h"

namespace plumbline {

[[nodiscard]] Layout plan_layout(const Question& question, const StageTable& stages,
                                 const std::vector<BlockCost>& blocks, const Strategy& strategy);

}  // namespace plumbline
