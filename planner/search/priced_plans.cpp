#include "planner/search/priced_plans.h"

#include <algorithm>

#include "core/cost/time_limits.h"

namespace plumbline {

bool PricedPlans::may_enter(const Score& bound) const {
  if (options_.below && bound >= *options_.below) return false;
  if (result_.best.size() < most_) return true;
  return !result_.best.empty() && bound <= result_.best.back().score;
}

bool PricedPlans::may_join_front(const Candidate& candidate) const {
  return std::none_of(result_.front.begin(), result_.front.end(), [&](const RankedStrategy& plan) {
    return plan.step_time <= candidate.step_time && plan.peak_memory <= candidate.peak_memory;
  });
}

void PricedPlans::take(RankedStrategy plan) {
  SearchAudit& audit = result_.audit;
  if (plan.outcome == Outcome::priced && plan.step_time > longest_step) {
    result_.has_too_long = true;
    plan.outcome = Outcome::infeasible;
  }
  switch (plan.outcome) {
    case Outcome::open: break;
    case Outcome::priced: taken_.push_back(std::move(plan)); break;
    case Outcome::infeasible: ++audit.infeasible; break;
    case Outcome::repeated: ++audit.dominated; break;
    case Outcome::bounded: ++(has_front() ? audit.dominated : audit.bound); break;
  }
}

void PricedPlans::merge() {
  result_.audit.solved += static_cast<std::int64_t>(taken_.size());
  if (options_.refinement == Refinement::around_best && !options_.below)
    for (const RankedStrategy& plan : taken_) result_.shapes.consider(plan);
  if (has_front()) add_to_front(result_.front, taken_);
  for (RankedStrategy& plan : taken_)
    if (!options_.below || plan.score < *options_.below) result_.best.push_back(std::move(plan));
  taken_.clear();
  std::sort(result_.best.begin(), result_.best.end(), before);
  if (result_.best.size() > most_) result_.best.resize(most_);
}

void add_to_front(std::vector<RankedStrategy>& front, const std::vector<RankedStrategy>& plans) {
  front.insert(front.end(), plans.begin(), plans.end());
  front = front_of(std::move(front));
}

void report_best(const SearchOptions& options, const SearchProgress& phase, const std::vector<RankedStrategy>& best) {
  if (options.best_so_far && !best.empty()) options.best_so_far(best);
  if (!options.progress) return;
  SearchProgress progress = phase;
  progress.best_step_time_s = best.empty() ? 0.0 : to_seconds(best.front().ranking_step()).value();
  options.progress(progress);
}

}  // namespace plumbline
