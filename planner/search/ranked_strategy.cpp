#include "planner/search/ranked_strategy.h"

#include <algorithm>

namespace plumbline {

std::vector<RankedStrategy> front_of(std::vector<RankedStrategy> plans) {
  const auto score = [](const RankedStrategy& plan) {
    return Score{plan.ranking_step().value(), plan.peak_memory.value()};
  };
  std::sort(plans.begin(), plans.end(),
            [&](const RankedStrategy& a, const RankedStrategy& b) { return before(a, score(a), b, score(b)); });
  std::vector<RankedStrategy> result;
  for (const RankedStrategy& plan : plans)
    if (result.empty() || plan.peak_memory < result.back().peak_memory) result.push_back(plan);
  return result;
}

void leave_out_repeats(std::vector<RankedStrategy>& plans) {
  plans.erase(std::unique(plans.begin(), plans.end(), is_same_plan), plans.end());
}

}  // namespace plumbline
