#pragma once
/// \file best_of_all.h: the best plans of a space, and its front of time and memory, where all plans are bounded first.
///
/// Answers the exact closed form of the best, and where every plan of the space went. Model: best first
/// (branch_and_bound.h), from all plans that fit in the order of their bounds (bounded_plans.h). A plan is opened by
/// its price; one whose recompute is placed, which takes far longer, by its tighter bounds first, and is priced where
/// no other open plan has a smaller bound. Stopped before anything was priced, it prices the first few plans whose
/// prices are quickly had.
/// Source, limits and checks: see search.h.

#include <optional>

#include "planner/search/priced_plans.h"
#include "planner/search/search_tables.h"

namespace plumbline {

struct BestOfAll {
  PricedResult priced;
  /// Of the plans that do not fit, the one that needs least; not of placed ones.
  std::optional<Candidate> smallest_too_large;
};

[[nodiscard]] BestOfAll best_of_all(const SearchTables& tables, const SearchOptions& options, std::size_t most);

}  // namespace plumbline
