#pragma once
/// \file bounded_plans.h: pass 1 of a search: all plans of its tables that are legal and fit, by their bounds.
///
/// Answers bounds of scores. Model: families are bounded (candidates.h) in epochs of fixed size, so that the outcome is
/// the same for every number of threads. Source, limits and checks: see search.h.

#include <functional>
#include <optional>
#include <vector>

#include "planner/search/search.h"
#include "planner/search/search_tables.h"

namespace plumbline {

struct BoundedPlans {
  std::vector<Candidate> plans;  ///< least score first
  /// Of the plans that do not fit, the one that needs least; not of placed ones.
  std::optional<Candidate> smallest_too_large;
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
[[nodiscard]] BoundedPlans bounded_plans(const SearchTables& tables, const BoundingContext& context,
                                         SearchAudit& audit);
/// All plans of a table.
[[nodiscard]] std::int64_t leaves_of(const CandidateTable& table);

}  // namespace plumbline
