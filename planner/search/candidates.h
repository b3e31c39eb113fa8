#pragma once
/// \file candidates.h: pass 1 of a search: every plan of one question's space, bounded.
///
/// Block costs and the choices of a placement depend on (tp, cp, ep, sequence parallelism, micro-batch), layouts on
/// (pp, virtual stages, recompute); both tables are made first, so that a plan costs a few sums. Where recompute is
/// placed, a plan is bounded by its time with nothing recomputed and by the memory that no choice of a block can do
/// without; what blocks may choose is found when the first plan of a table is priced, and placed then. A placement that
/// surely has all the memory it could use is the plan without recompute, and counts as dominated by it. Of a candidate
/// a table says all but its question and what that question's plans score.

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/cost/stage_cost.h"
#include "planner/pricing/peak_memory.h"
#include "planner/search/placed_bound.h"
#include "planner/search/placed_plans.h"
#include "planner/search/space.h"

namespace plumbline {

/// What pass 1 found in some families.
struct CandidateBatch {
  std::vector<Candidate> fitting;
  std::int64_t too_large = 0;
  std::int64_t dominated = 0;
  /// Of the plans that do not fit, the one that needs least; placed ones are left to `nearest_placed`.
  std::optional<Candidate> smallest_too_large;
  Bytes told_below = Bytes::largest();  ///< what needs as much or more is not told
};

/// Whether a plan of at least so much is still worth its price.
using IsWorth = std::function<bool(const PlanBound& bound)>;

/// How a plan is bounded beyond its sums: with what happens once per step; a placed plan also by its price with nothing
/// recomputed, which replay only adds to but for rounding, or with the least replay that its ranks cannot do without,
/// to fit or to fit as surely as they can, which is what a placement is chosen for: `surest_fit` bounds a plan's place
/// in a ranking, not its time and memory apart, `surest_capped` with what replays restore. Each takes longer to find
/// than the one before.
enum class Tighter : std::uint8_t { without_sweep, without_replay, least_replay, surest_fit, surest_capped };
/// Those whose bounds hold for time and memory apart, as a front asks for.
inline constexpr std::array ways_for_front = {Tighter::without_sweep, Tighter::without_replay, Tighter::least_replay};
inline constexpr std::array ways_for_ranking = {Tighter::without_sweep, Tighter::without_replay, Tighter::surest_fit,
                                                Tighter::surest_capped};

class CandidateTable {
 public:
  /// Enumerates the legal families and prices their blocks on `threads` threads. `known`, if given, has tables of the
  /// question's blocks, which are not priced again, and takes in the others.
  CandidateTable(const Question& question, const SearchSpace& space, std::int32_t threads, StopRequest stop = {},
                 BlockTables* known = nullptr);
  CandidateTable(const CandidateTable&) = delete;
  CandidateTable& operator=(const CandidateTable&) = delete;

  /// False where it was stopped before all was enumerated and priced: then only counts are known.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  [[nodiscard]] std::size_t family_count() const { return families_.size(); }
  [[nodiscard]] std::int64_t total_plans() const { return total_; }
  [[nodiscard]] std::int64_t leaves_of(std::size_t family) const { return families_[family].leaves; }
  /// Plans of illegal families, and of others with a recompute that their layers do not take, by the rule that refuses
  /// them.
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::int64_t>>& illegal() const { return illegal_; }
  /// Bounds all plans of one family. Pure; callable from any thread.
  void bound_family(std::size_t family, CandidateBatch& into) const;
  /// All families, those one after another that have the stages of other ones: what is bounded together costs least.
  [[nodiscard]] std::vector<std::size_t> families_by_stages() const;
  /// The groups (Candidate::is_group) of some families that are worth it, and how many plans are in those that are not.
  /// Placed recompute is in the group of the plans that keep everything, whose bound it has.
  [[nodiscard]] std::int64_t bound_groups(std::span<const std::size_t> families, std::vector<Candidate>& into,
                                          const IsWorth& is_worth) const;
  [[nodiscard]] std::int64_t plans_of_group(const Candidate& group) const;
  /// Bounds all plans of a group; which of those that are too large needs least is not told.
  void bound_group(const Candidate& group, CandidateBatch& into) const;
  [[nodiscard]] Strategy strategy(const Candidate& candidate) const;
  /// Whether its recompute is placed, which takes far longer to price than what is not.
  [[nodiscard]] bool is_placed(const Candidate& candidate) const { return places(recompute_of(candidate)); }
  /// Of the ways for candidates whose recompute is placed, none is always the tightest.
  [[nodiscard]] PlanBound tighter_bound(const Candidate& candidate, Tighter way) const;
  /// The candidate with its exact closed form. Pure; callable from any thread.
  [[nodiscard]] Candidate priced(const Candidate& candidate) const;
  /// Puts the family's placed plan of least memory into `smallest`, if it needs less. For when nothing fits.
  void nearest_placed(std::size_t family, std::optional<Candidate>& smallest) const;
  [[nodiscard]] const Question& question() const { return *question_; }

 private:
  struct FamilyEntry {
    Strategy strategy;
    std::int64_t leaves = 0;        ///< legal ones
    std::int64_t of_recompute = 0;  ///< of them, those of one recompute choice
    std::size_t blocks = 0;         ///< index into block_tables_
    std::size_t placements = 0;     ///< of placed_
    std::size_t layouts = 0;        ///< index of the first recompute choice's layout
  };
  /// The families once more with other layers: in a mixed cluster as their stages' devices are fast (site_splits.h), in
  /// others where the space levels them (level_split.h).
  void add_splits(std::vector<Strategy>& layout_samples, const SearchSpace& space);
  void make_layouts(const std::vector<Strategy>& samples, std::int32_t threads);
  [[nodiscard]] const StageLayout& layout(const FamilyEntry& family, std::size_t recompute) const {
    return layouts_[family.layouts + recompute];
  }
  [[nodiscard]] bool places(std::size_t recompute) const {
    return enumerator_.recompute_choices()[recompute].mode == RecomputeMode::placed;
  }
  struct Bounded;
  void bound_leaves(std::size_t index, std::size_t recompute, Bounded& all, StatesOfPlans& states,
                    CandidateBatch& into) const;
  void bound_placed(std::size_t index, std::size_t recompute, Bounded& all_kept, StatesOfPlans& states,
                    CandidateBatch& into) const;
  [[nodiscard]] const FamilyEntry& family_of(const Candidate& candidate) const {
    return families_[static_cast<std::size_t>(candidate.family)];
  }
  [[nodiscard]] std::size_t recompute_of(const Candidate& candidate) const {
    return static_cast<std::size_t>(candidate.leaf) % enumerator_.recompute_choices().size();
  }

  const Question* question_;
  SpaceEnumerator enumerator_;
  StopRequest stop_;
  bool is_complete_ = true;
  std::vector<FamilyEntry> families_;
  std::vector<std::pair<std::string_view, std::int64_t>> illegal_;
  std::int64_t total_ = 0;
  [[nodiscard]] const BlockTable& blocks_of(const FamilyEntry& family) const { return *block_tables_[family.blocks]; }

  std::vector<std::shared_ptr<const BlockTable>> block_tables_;  ///< without the choices of a placement
  BlockTables own_tables_;                                       ///< where none are known
  BlockTables& known_tables_;
  PlacedPlans placed_;
  std::optional<std::size_t> none_;   ///< among the recompute choices
  std::optional<std::size_t> kept_;   ///< one of them whose layouts keep everything
  std::vector<StageLayout> layouts_;  ///< of placed recompute: with everything kept
};

}  // namespace plumbline
