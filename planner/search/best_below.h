#pragma once
/// \file best_below.h: the best plans of a space that score less than a plan that is known.
///
/// Answers the same plans as a whole search that keeps those of a lower score, and where every plan of the space went.
/// Model: best first. What is known of some plans is a bound of their score; the least of all bounds is looked at next,
/// and made tighter by a little more work: first groups of plans without their memory, then plans, of a placed
/// recompute its price without replay and with the least replay, last the exact price. What no bound lets be better
/// than the best plans found is never looked at.
/// Source: A. Land and A. Doig, "An Automatic Method of Solving Discrete Programming Problems", Econometrica 28 (1960).
/// Not modelled: the front of time and memory; the nearest miss.
/// Checked against: tests/unit/planner/search/block_tables_test.cpp (whole searches).

#include <memory>
#include <vector>

#include "planner/search/candidates.h"
#include "planner/search/search.h"

namespace plumbline {

struct BestBelow {
  std::vector<RankedStrategy> best;  ///< by closed form, at most as many as were asked for
  SearchAudit audit;                 ///< but the total and what is illegal
  bool is_complete = true;
};

/// At most `most` plans that score less than `options.below`; `tables`: of the questions.
[[nodiscard]] BestBelow best_below(const std::vector<Question>& questions,
                                   const std::vector<std::unique_ptr<CandidateTable>>& tables,
                                   const SearchOptions& options, std::size_t most);

/// A candidate with its price, as it is ranked.
[[nodiscard]] RankedStrategy ranked_strategy(const CandidateTable& table, const Candidate& candidate,
                                             std::size_t question, const CandidatePrice& price);
/// `certain`: the memory that surely fits.
[[nodiscard]] Score score_of(Objective objective, Picoseconds step, std::int64_t devices, Bytes peak, Bytes certain);

}  // namespace plumbline
