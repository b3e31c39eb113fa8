#pragma once
/// \file candidates.h: pass 1 of a search: every plan of one question's space, bounded.
///
/// Block costs depend on (tp, cp, ep, sequence parallelism, micro-batch), layouts on (pp, virtual stages, recompute);
/// both tables are made first, so that a plan costs a few sums.

#include <stop_token>
#include <vector>

#include "core/cost/stage_cost.h"
#include "planner/search/space.h"

namespace plumbline {

/// A plan that is legal and fits, with the least time that it could take.
struct Candidate {
  Picoseconds bound{0};
  Bytes peak_memory{0};
  std::int32_t family = 0;
  std::int32_t leaf = 0;  ///< index into SpaceEnumerator::leaves of the family
};

/// What pass 1 found in some families.
struct CandidateBatch {
  std::vector<Candidate> fitting;
  std::int64_t too_large = 0;
  /// Of the plans that do not fit, the one that needs least.
  std::optional<Candidate> smallest_too_large;
};

class CandidateTable {
 public:
  /// Enumerates the legal families and prices their blocks on `threads` threads.
  CandidateTable(const Question& question, const SearchSpace& space, std::int32_t threads);

  [[nodiscard]] std::size_t family_count() const { return families_.size(); }
  [[nodiscard]] std::int64_t total_plans() const { return total_; }
  [[nodiscard]] std::int64_t leaves_of(std::size_t family) const { return families_[family].leaves; }
  /// Plans of illegal families, by rule.
  [[nodiscard]] const std::vector<std::pair<Rule, std::int64_t>>& illegal() const { return illegal_; }
  /// Bounds all plans of one family. Pure; callable from any thread.
  void bound_family(std::size_t family, CandidateBatch& into) const;
  [[nodiscard]] Strategy strategy(const Candidate& candidate) const;
  /// The exact closed-form step time. Pure; callable from any thread.
  [[nodiscard]] Picoseconds step_time(const Strategy& strategy, std::size_t family) const;
  [[nodiscard]] const Question& question() const { return *question_; }

 private:
  struct FamilyEntry {
    Strategy strategy;
    std::int64_t leaves = 0;
    std::size_t blocks = 0;   ///< index into block_tables_
    std::size_t layouts = 0;  ///< index of the first recompute choice's layout
  };
  [[nodiscard]] const StageLayout& layout(const FamilyEntry& family, std::size_t recompute) const {
    return layouts_[family.layouts + recompute];
  }

  const Question* question_;
  SpaceEnumerator enumerator_;
  std::vector<FamilyEntry> families_;
  std::vector<std::pair<Rule, std::int64_t>> illegal_;
  std::int64_t total_ = 0;
  std::vector<std::vector<BlockCost>> block_tables_;
  std::vector<StageLayout> layouts_;
};

}  // namespace plumbline
