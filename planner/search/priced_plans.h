#pragma once
/// \file priced_plans.h: what a branch and bound has priced so far: the best plans, the front, and the cutoff.
///
/// A plan that cannot be launched after all, or whose step is longer than any that is priced, counts as infeasible.

#include <string_view>
#include <vector>

#include "planner/search/refine.h"
#include "planner/search/search.h"

namespace plumbline {

/// Plans that a search keeps for its ranking, by closed form.
struct PricedResult {
  std::vector<RankedStrategy> best;   ///< best first
  std::vector<RankedStrategy> front;  ///< of time and memory, where it is asked for
  BestOfShapes shapes;                ///< where the best are refined
  SearchAudit audit;                  ///< but the total and what is illegal
  bool has_too_long = false;          ///< whether a plan fits whose step is longer than any that is priced
  bool is_complete = true;
};

class PricedPlans {
 public:
  /// Keeps at most `most`, all of which score less than `options.below`.
  PricedPlans(const SearchOptions& options, std::size_t most) : options_(options), most_(most) {}

  /// Whether a plan that scores at least so much can be among the best.
  [[nodiscard]] bool may_enter(const Score& bound) const;
  /// Whether one can be on the front that takes and holds at least as much as this: no priced plan is as good in both.
  [[nodiscard]] bool may_join_front(const Candidate& candidate) const;
  [[nodiscard]] bool has_front() const { return options_.pareto && !options_.below; }
  [[nodiscard]] const std::vector<RankedStrategy>& best() const { return result_.best; }

  /// Counts what became of a plan, and keeps those that were priced until the next merge.
  void take(RankedStrategy plan);
  /// Puts those taken since the last time in their places, which tightens the cutoff.
  void merge();
  [[nodiscard]] SearchAudit& audit() { return result_.audit; }
  [[nodiscard]] PricedResult& result() { return result_; }

 private:
  const SearchOptions& options_;
  std::size_t most_;
  std::vector<RankedStrategy> taken_;
  PricedResult result_;
};

/// `front` with other plans.
void add_to_front(std::vector<RankedStrategy>& front, const std::vector<RankedStrategy>& plans);
/// Tells how far a phase is, and what is best so far.
void report_best(const SearchOptions& options, const SearchProgress& phase, const std::vector<RankedStrategy>& best);

}  // namespace plumbline
