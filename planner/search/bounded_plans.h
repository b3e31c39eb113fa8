#pragma once
/// \file bounded_plans.h: pass 1 of a search: all plans of its tables that are legal and fit, by their bounds.
///
/// Answers scores. Model: families are bounded (candidates.h) in epochs of fixed size, so that the outcome is the same
/// for every number of threads. Source, limits and checks: see search.h.

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "planner/search/candidates.h"
#include "planner/search/refine.h"
#include "planner/search/search.h"

namespace plumbline {

/// A candidate with the question it belongs to.
struct BoundedPlan {
  Candidate candidate;
  Score bound;
  std::int32_t question;
};
/// What came of one.
struct PricedCandidate {
  Outcome outcome = Outcome::bounded;
  RankedStrategy plan;
};
/// One whose recompute is placed, with the tightest of its bounds.
struct PlacedCandidate {
  Score score{};
  std::size_t entry = 0;  ///< among the bounded plans
  PlanBound bound;
  [[nodiscard]] auto key() const { return std::pair(score, entry); }
};
/// Either is there, or none where a search was stopped.
struct LookedAt {
  std::optional<PricedCandidate> priced;
  std::optional<PlacedCandidate> placed;
};
struct BoundedPlans {
  std::vector<BoundedPlan> plans;  ///< least bound first
  /// Of the plans that do not fit, the one that needs least, and its question; not of placed ones.
  std::optional<std::pair<Candidate, std::size_t>> smallest_too_large;
  bool has_too_long = false;  ///< whether a plan fits whose step is longer than any that is priced
  bool is_complete = true;
};
/// `report`: hears of families.
struct BoundingContext {
  std::int32_t threads = 1;
  StopRequest stop;
  std::function<void(std::int64_t done, std::int64_t total)> report;
};
/// `audit`: takes in what does not fit, what is dominated, and what a stop leaves.
[[nodiscard]] BoundedPlans bounded_plans(const std::vector<std::unique_ptr<CandidateTable>>& tables,
                                         const ScoreOf& score_of, const BoundingContext& context, SearchAudit& audit);
/// All plans of a table.
[[nodiscard]] std::int64_t leaves_of(const CandidateTable& table);

}  // namespace plumbline
