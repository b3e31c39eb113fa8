#include "planner/search/ranked_strategy.h"

#include <algorithm>

namespace plumbline {
namespace {

/// Of plans whose scores are equal.
bool comes_first(const RankedStrategy& a, const RankedStrategy& b) {
  if (a.peak_memory != b.peak_memory) return a.peak_memory < b.peak_memory;
  if (a.strategy != b.strategy) return a.strategy < b.strategy;
  return a.question < b.question;
}

}  // namespace

bool before(const RankedStrategy& a, const RankedStrategy& b) {
  return a.score != b.score ? a.score < b.score : comes_first(a, b);
}

std::vector<RankedStrategy> front_of(std::vector<RankedStrategy> plans) {
  std::sort(plans.begin(), plans.end(), [](const RankedStrategy& a, const RankedStrategy& b) {
    return a.ranking_step() != b.ranking_step() ? a.ranking_step() < b.ranking_step() : comes_first(a, b);
  });
  std::vector<RankedStrategy> result;
  for (const RankedStrategy& plan : plans)
    if (result.empty() || plan.peak_memory < result.back().peak_memory) result.push_back(plan);
  return result;
}

void leave_out_repeats(std::vector<RankedStrategy>& plans) {
  plans.erase(std::unique(plans.begin(), plans.end(), is_same_plan), plans.end());
}

}  // namespace plumbline
