#pragma once
/// \file sensitivity.h: which assumed numbers an answer rests on, and by how much.
///
/// Model: every coefficient that nobody measured is moved by one standard deviation, the plan priced anew; what moves
/// the step time or the peak memory by less than half a per cent does not matter.
/// Not modelled: coefficients that move together.

#include <string>
#include <vector>

#include "core/plan/plan.h"
#include "planner/question/question.h"
#include "planner/question/task.h"

namespace plumbline {

struct Sensitivity {
  AssumedNumber number;
  double relative_sigma = 0;
  double step_time = 0;    ///< relative change of the step time for one standard deviation more
  double peak_memory = 0;  ///< relative change of the peak memory
};

/// Largest effect first; of those that were moved before the work was stopped.
[[nodiscard]] std::vector<Sensitivity> assumed_numbers_that_matter(const Question& question, const Strategy& strategy,
                                                                   const Task& task = {});

}  // namespace plumbline
