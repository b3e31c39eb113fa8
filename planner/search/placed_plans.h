#pragma once
/// \file placed_plans.h: plans of a search whose recompute is placed: what their blocks may choose, bounds and prices.
///
/// Answers picoseconds and bytes. Model: what the blocks of a table may choose is found when the first plan of the
/// table is priced, and placed then (planner/checkpointing). A placement that replays nothing is the plan without
/// recompute, and is not counted again. Source: planner/checkpointing/placement.h. Not modelled: as there. Checked
/// against: tests/property/search_brute_force_test.cpp.

#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "planner/checkpointing/rank_layers.h"
#include "planner/search/block_tables.h"
#include "planner/search/candidate.h"

namespace plumbline {

/// Every member but `take` may be called from any thread. `of`: the index of a strategy among those taken.
class PlacedPlans {
 public:
  /// `programs`: of the question's blocks.
  PlacedPlans(const Question& question, KnownPrograms& programs) : question_(&question), programs_(&programs) {}

  /// One strategy of all that have their blocks' choices in common, with the recompute that its table is priced for.
  void take(const std::vector<Strategy>& samples);
  /// With everything kept at no more bytes than any choice of a placement: a bound on time and memory of them.
  [[nodiscard]] const BlockTable& least(std::size_t of, const BlockTable& blocks) const;
  /// What such plans choose among, as if what they restore took no memory: enough for a bound (placed_bound.h).
  [[nodiscard]] const RankLayersTable& bare(std::size_t of, const BlockTable& blocks) const;
  [[nodiscard]] const RankLayersTable& layers(std::size_t of, const BlockTable& blocks) const;
  /// `candidate`, whose strategy this is, with its exact closed form. `has_unplaced`: whether the same plan
  /// without recompute is a candidate too.
  [[nodiscard]] Candidate priced(std::size_t of, const BlockTable& blocks, const Strategy& strategy,
                                 Candidate candidate, bool has_unplaced) const;

 private:
  /// What placements of a block table choose among, whole or split backwards.
  struct Choices {
    Strategy sample;  ///< of the strategies that have them
    std::once_flag once;
    BlockTable blocks;
    std::optional<RankLayersTable> layers;
    std::once_flag bare_once;
    BlockTable bare_blocks;  ///< with choices whose replay holds nothing, which are found sooner
    std::optional<RankLayersTable> bare_layers;
    std::once_flag least_once;
    BlockTable least;
  };

  const Question* question_;
  KnownPrograms* programs_;
  mutable std::deque<Choices> choices_;
};

}  // namespace plumbline
