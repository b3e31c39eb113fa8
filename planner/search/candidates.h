#pragma once
/// \file candidates.h: pass 1 of a search: every plan of one question's space, bounded.
///
/// Block costs and the choices of a placement depend on (tp, cp, ep, sequence parallelism, micro-batch), layouts on
/// (pp, virtual stages, recompute); both tables are made first, so that a plan costs a few sums. Where recompute is
/// placed, a plan is bounded by its time with nothing recomputed and by the memory that no choice of a block can do
/// without; what blocks may choose is found when the first plan of a table is priced, and placed then. A placement that
/// surely has all the memory it could use is the plan without recompute, and counts as dominated by it.

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/cost/stage_cost.h"
#include "planner/checkpointing/rank_layers.h"
#include "planner/search/block_tables.h"
#include "planner/search/space.h"

namespace plumbline {

/// A plan that is legal and fits, with the least time that it could take.
struct Candidate {
  Picoseconds bound{0};
  Bytes peak_memory{0};  ///< the least it could be, where recompute is placed
  std::int32_t family = 0;
  std::int32_t leaf = 0;  ///< index into SpaceEnumerator::leaves of the family
};

/// The plans of a family that have one recompute in common, of which only the least time is known yet: all of them.
struct CandidateGroup {
  Picoseconds bound{0};
  std::int32_t family = 0;
  std::int32_t recompute = 0;  ///< among the choices of the space
  std::int64_t plans = 0;
};

/// What pass 1 found in some families.
struct CandidateBatch {
  std::vector<Candidate> fitting;
  std::int64_t too_large = 0;
  std::int64_t dominated = 0;
  /// Of the plans that do not fit, the one that needs least; placed ones are left to `nearest_placed`.
  std::optional<Candidate> smallest_too_large;
};

/// What became of a candidate. Only where recompute is placed: no placement fits, none can be worth it, or what is
/// placed replays nothing, as a plan alongside it.
enum class Outcome : std::uint8_t { priced, infeasible, bounded, repeated };
/// The exact closed form of a candidate that was priced.
struct CandidatePrice {
  Outcome outcome = Outcome::priced;
  Picoseconds step{0};
  Bytes peak_memory{0};
};
/// Whether a plan of at least this step time is still worth its price.
using IsWorth = std::function<bool(Picoseconds bound)>;

class CandidateTable {
 public:
  /// Enumerates the legal families and prices their blocks on `threads` threads. `known`, if given, has tables of the
  /// question's blocks, which are not priced again, and takes in the others.
  CandidateTable(const Question& question, const SearchSpace& space, std::int32_t threads, StopRequest stop = {},
                 BlockTables* known = nullptr);

  /// False where it was stopped before all was enumerated and priced: then only counts are known.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  [[nodiscard]] std::size_t family_count() const { return families_.size(); }
  [[nodiscard]] std::int64_t total_plans() const { return total_; }
  [[nodiscard]] std::int64_t leaves_of(std::size_t family) const { return families_[family].leaves; }
  /// Plans of illegal families, by the rule that refuses them.
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::int64_t>>& illegal() const { return illegal_; }
  /// Bounds all plans of one family. Pure; callable from any thread.
  void bound_family(std::size_t family, CandidateBatch& into) const;
  /// The groups of one family that are worth it, and how many plans are in those that are not.
  [[nodiscard]] std::int64_t bound_groups(std::size_t family, std::vector<CandidateGroup>& into,
                                          const IsWorth& is_worth) const;
  /// Bounds all plans of a group.
  void bound_group(const CandidateGroup& group, CandidateBatch& into) const;
  [[nodiscard]] Strategy strategy(const Candidate& candidate) const;
  /// Whether its recompute is placed, which takes far longer to price than what is not.
  [[nodiscard]] bool is_placed(const Candidate& candidate) const { return places(recompute_of(candidate)); }
  /// Of a candidate whose recompute is placed, tighter bounds: its price with nothing recomputed, which replay only
  /// adds to, but for rounding; and with the least replay that its ranks cannot do without, which takes longer to find.
  /// Neither is always the greater.
  [[nodiscard]] Picoseconds kept_bound(const Candidate& candidate) const;
  [[nodiscard]] Picoseconds replay_bound(const Candidate& candidate) const;
  /// The exact closed form. Pure; callable from any thread.
  [[nodiscard]] CandidatePrice price(const Candidate& candidate) const;
  [[nodiscard]] CandidatePrice price(const Candidate& candidate, const IsWorth& is_worth) const;
  /// Puts the family's placed plan of least memory into `smallest`, if it needs less. For when nothing fits.
  void nearest_placed(std::size_t family, std::optional<Candidate>& smallest) const;
  [[nodiscard]] const Question& question() const { return *question_; }

 private:
  struct FamilyEntry {
    Strategy strategy;
    std::int64_t leaves = 0;
    std::size_t blocks = 0;      ///< index into block_tables_
    std::size_t placements = 0;  ///< index into choices_
    std::size_t layouts = 0;     ///< index of the first recompute choice's layout
  };
  void make_choices(const std::vector<Strategy>& samples);
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
  [[nodiscard]] Bounded bounded(const FamilyEntry& family, std::size_t recompute) const;
  /// Whether any of its plans could be, by a bound that holds for every recompute.
  [[nodiscard]] bool may_be_worth(const FamilyEntry& family, const IsWorth& is_worth) const;
  using ZeroChoices = std::vector<SpaceEnumerator::ZeroChoice>;
  void bound_leaves(std::size_t index, std::size_t recompute, const Bounded& all, const ZeroChoices& zero,
                    CandidateBatch& into) const;
  void bound_placed(std::size_t index, std::size_t recompute, const Bounded& all_kept, const ZeroChoices& zero,
                    CandidateBatch& into) const;
  /// The index of a leaf among those of its family.
  [[nodiscard]] std::int32_t leaf_of(std::size_t zero, std::size_t recompute) const {
    return static_cast<std::int32_t>(zero * enumerator_.recompute_choices().size() + recompute);
  }
  /// At least the replay that each rank cannot do without; nothing when some rank cannot fit.
  [[nodiscard]] std::optional<Picoseconds> placed_bound(const FamilyEntry& family, std::size_t recompute,
                                                        const Strategy& strategy) const;
  [[nodiscard]] const FamilyEntry& family_of(const Candidate& candidate) const {
    return families_[static_cast<std::size_t>(candidate.family)];
  }
  [[nodiscard]] std::size_t recompute_of(const Candidate& candidate) const {
    return static_cast<std::size_t>(candidate.leaf) % enumerator_.recompute_choices().size();
  }
  [[nodiscard]] CandidatePrice price_placed(const FamilyEntry& family, const Strategy& strategy) const;

  const Question* question_;
  SpaceEnumerator enumerator_;
  StopRequest stop_;
  bool is_complete_ = true;
  std::vector<FamilyEntry> families_;
  std::vector<std::pair<std::string_view, std::int64_t>> illegal_;
  std::int64_t total_ = 0;
  /// What placements of a block table choose among, whole or split backwards, made when the first is priced.
  struct Choices {
    Strategy sample;  ///< of the strategies that have them
    std::once_flag once;
    BlockTable blocks;
    std::optional<RankLayersTable> layers;
    std::once_flag least_once;
    BlockTable least;
  };
  [[nodiscard]] const BlockTable& blocks_of(const FamilyEntry& family) const { return *block_tables_[family.blocks]; }
  [[nodiscard]] const RankLayersTable& layers_of(const FamilyEntry& family) const;
  /// With everything kept at no more bytes than any choice of a placement: a bound on time and memory of them.
  [[nodiscard]] const BlockTable& least_of(const FamilyEntry& family) const;

  std::vector<std::shared_ptr<const BlockTable>> block_tables_;  ///< without the choices of a placement
  mutable std::deque<Choices> choices_;
  std::optional<std::size_t> none_;   ///< among the recompute choices
  std::optional<std::size_t> kept_;   ///< one of them whose layouts keep everything
  std::vector<StageLayout> layouts_;  ///< of placed recompute: with everything kept
};

}  // namespace plumbline
