#pragma once
/// \file best_below.h: the best plans of a space that score less than a plan that is known.
///
/// Answers the same plans as a whole search that keeps those of a lower score, and where every plan of the space went.
/// Model: best first (branch_and_bound.h), from the bounds of families. A node is made tighter by a little more work at
/// a time: first groups of plans without their memory, then plans, of a placed recompute its price without replay and
/// with the least replay, last the exact price. What no bound lets be better than the best plans found is never looked
/// at.
/// Not modelled: the front of time and memory; the nearest miss.
/// Checked against: tests/unit/planner/search/block_tables_test.cpp (whole searches).

#include "planner/search/priced_plans.h"
#include "planner/search/search_tables.h"

namespace plumbline {

/// At most `most` plans that score less than `options.below`, by closed form.
[[nodiscard]] PricedResult best_below(const SearchTables& tables, const SearchOptions& options, std::size_t most);

}  // namespace plumbline
