#pragma once
/// \file search_tables.h: the tables of a search, one for each of its questions, and what their plans score.

#include <memory>
#include <vector>

#include "planner/search/candidates.h"
#include "planner/search/scoring.h"

namespace plumbline {

/// With its strategy, and what the question of its table says.
[[nodiscard]] RankedStrategy written_out(const CandidateTable& table, const Candidate& candidate);

struct SearchTables {
  std::vector<std::unique_ptr<CandidateTable>> tables;
  Scoring score_of;

  [[nodiscard]] const CandidateTable& of(const Candidate& candidate) const { return *tables[candidate.question]; }
  /// Bounds a candidate in one more way, which may make its score tighter; answers the bound.
  PlanBound tighten(Candidate& candidate, Tighter way) const;
  /// The exact closed form, written out with its strategy where the plan is possible.
  [[nodiscard]] RankedStrategy priced(const Candidate& candidate) const;
};

}  // namespace plumbline
