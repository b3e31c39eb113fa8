#include "planner/search/best_of_all.h"

#include <span>
#include <utility>

#include "planner/search/bounded_plans.h"
#include "planner/search/branch_and_bound.h"

namespace plumbline {
namespace {

/// Plans opened in a round. Fixed, so that the outcome is the same for every number of threads.
constexpr std::size_t plans_per_round = 512;
/// Enough that the next have something to be compared with.
constexpr std::size_t plans_of_first_round = 64;
/// Plans whose recompute is placed take longest: so many are priced between two looks at the best found.
constexpr std::size_t placed_per_round = 8;
/// A few milliseconds each at most.
constexpr std::size_t plans_after_stop = 16;

/// A problem of BranchAndBound.
class AllPlans {
 public:
  using Node = Candidate;
  using Opened = RankedStrategy;
  using Branching = BranchAndBound<AllPlans>;

  AllPlans(const SearchTables& tables, const SearchOptions& options, PricedPlans& priced, std::size_t count)
      : tables_(tables),
        options_(options),
        priced_(priced),
        count_(count),
        ways_(priced.has_front() ? std::span<const Tighter>(ways_for_front)
                                 : std::span<const Tighter>(ways_for_ranking)) {}

  [[nodiscard]] RoundSize round_size() const {
    return {Round::of_one_effort, is_first_ ? plans_of_first_round : plans_per_round, placed_per_round};
  }
  /// Only those whose recompute is placed are tightened, and priced then.
  [[nodiscard]] static Effort effort(const Candidate& plan) {
    return plan.tightened > 0 ? Effort::large : Effort::small;
  }
  [[nodiscard]] Chance chance(const Candidate& plan) const {
    if (priced_.may_enter(plan.score)) return Chance::some;
    if (!priced_.has_front()) return Chance::none_from_here;
    // A placed one is looked at in its round, where it counts.
    return plan.tightened > 0 || priced_.may_join_front(plan) ? Chance::some : Chance::none;
  }
  void leave_out(const Candidate&) { ++priced_.audit().dominated; }

  [[nodiscard]] RankedStrategy opened(const Candidate& plan) const {
    if (!tables_.of(plan).is_placed(plan)) return tables_.priced(plan);
    RankedStrategy result{plan.tightened == 0 ? tightened(plan) : plan};
    if (!is_worth(result)) result.outcome = Outcome::bounded;
    return plan.tightened == 0 || result.outcome == Outcome::bounded ? result : tables_.priced(plan);
  }
  void take(const Candidate&, RankedStrategy plan, Branching& open) {
    if (plan.outcome == Outcome::open)
      open.add(static_cast<const Candidate&>(plan));
    else
      priced_.take(std::move(plan));
  }
  void end_round(const Branching& open) {
    is_first_ = false;
    priced_.merge();
    const std::size_t next = count_ - open.open(Effort::small);
    report_best(options_, {"pricing", static_cast<std::int64_t>(next), static_cast<std::int64_t>(count_)},
                priced_.best());
  }

  /// A stop leaves plans unpriced; but where nothing was priced yet, the first whose prices are quickly had are not.
  void end_stopped(const Branching& open) {
    priced_.result().is_complete = false;
    const bool has_none = priced_.best().empty();
    std::size_t after_stop = 0;
    open.for_each_open([&](const Candidate& plan) {
      if (has_none && after_stop < plans_after_stop && !tables_.of(plan).is_placed(plan)) {
        ++after_stop;
        priced_.take(tables_.priced(plan));
      } else {
        ++priced_.audit().unvisited;
      }
    });
    priced_.merge();
  }

 private:
  [[nodiscard]] bool is_worth(const Candidate& plan) const {
    return priced_.may_enter(plan.score) || (priced_.has_front() && priced_.may_join_front(plan));
  }
  /// Bounded in all ways, cheap before dear, as long as it is worth its price.
  [[nodiscard]] Candidate tightened(Candidate plan) const {
    for (const Tighter way : ways_) {
      const PlanBound bound = tables_.tighten(plan, way);
      if (priced_.has_front()) plan.step_time = bound.step;  // these hold for time and memory apart
      if (!is_worth(plan)) break;
    }
    return plan;
  }

  const SearchTables& tables_;
  const SearchOptions& options_;
  PricedPlans& priced_;
  std::size_t count_;  ///< of all plans that fit
  std::span<const Tighter> ways_;
  bool is_first_ = true;
};

}  // namespace

BestOfAll best_of_all(const SearchTables& tables, const SearchOptions& options, std::size_t most) {
  PricedPlans priced(options, most);
  const std::int32_t threads = thread_count(options.threads);
  const auto report = [&](std::int64_t done, std::int64_t total) {
    report_best(options, {"bounding", done, total}, priced.best());
  };
  BoundedPlans bounded = bounded_plans(tables, {threads, options.stop, report}, priced.audit());
  PricedResult& result = priced.result();
  result.is_complete = bounded.is_complete;
  result.has_too_long = bounded.has_too_long;
  AllPlans plans(tables, options, priced, bounded.plans.size());
  BranchAndBound<AllPlans> branching(plans, std::move(bounded.plans));
  if (branching.run(threads, options.stop))
    branching.for_each_open([&](const Candidate&) { ++result.audit.bound; });
  else
    plans.end_stopped(branching);
  return {std::move(result), bounded.smallest_too_large};
}

}  // namespace plumbline
