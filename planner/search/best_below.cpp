#include "planner/search/best_below.h"

#include <algorithm>
#include <span>

#include "core/cost/time_limits.h"
#include "planner/search/branch_and_bound.h"

namespace plumbline {
namespace {

/// How many plans or groups are opened before the best plans found are updated, and how many of them may be priced by
/// a placement, which takes longest. Constants, so that the answer does not depend on the threads.
constexpr std::size_t opened_per_round = 64;
constexpr std::size_t placements_per_round = 8;
constexpr std::size_t families_per_bound_task = 64;

/// What came of a node.
struct OpenedNode {
  CandidateBatch plans;  ///< of a group
  RankedStrategy plan;   ///< otherwise
};

/// A problem of BranchAndBound.
class PlansBelow {
 public:
  using Node = Candidate;  // or a group of them
  using Opened = OpenedNode;
  using Branching = BranchAndBound<PlansBelow>;

  PlansBelow(const SearchTables& tables, const SearchOptions& options, PricedPlans& priced)
      : tables_(tables), options_(options), priced_(priced) {}

  /// Adds all groups of plans that are worth it; false where it was stopped.
  bool add_groups(Branching& open) {
    for (std::size_t q = 0; q < tables_.tables.size(); ++q)
      if (!add_groups(static_cast<std::uint32_t>(q), open)) return false;
    return true;
  }

  [[nodiscard]] static RoundSize round_size() { return {Round::mixed, opened_per_round, placements_per_round}; }
  [[nodiscard]] Effort effort(const Candidate& node) const {
    const bool is_to_be_placed = node.tightened == ways_for_ranking.size();
    return is_to_be_placed ? Effort::large : Effort::small;
  }
  [[nodiscard]] Chance chance(const Candidate& node) const {
    return priced_.may_enter(node.score) ? Chance::some : Chance::none_from_here;
  }
  void leave_out(const Candidate&) {}

  [[nodiscard]] OpenedNode opened(const Candidate& node) const {
    OpenedNode result;
    const CandidateTable& table = tables_.of(node);
    if (node.is_group) {
      table.bound_group(node, result.plans);
    } else if (node.tightened < (table.is_placed(node) ? ways_for_ranking.size() : 1)) {
      static_cast<Candidate&>(result.plan) = node;
      tables_.tighten(result.plan, ways_for_ranking[node.tightened]);
    } else {
      result.plan = tables_.priced(node);
    }
    return result;
  }
  void take(const Candidate& node, OpenedNode opened, Branching& open) {
    if (node.is_group)
      take_plans(node, opened.plans, open);
    else if (opened.plan.outcome == Outcome::open)
      open.add(static_cast<const Candidate&>(opened.plan));
    else
      priced_.take(std::move(opened.plan));
  }
  void end_round(const Branching& open) {
    priced_.merge();
    if (!options_.progress) return;
    const std::int64_t done = priced_.audit().solved;
    const std::size_t left = open.open(Effort::small) + open.open(Effort::large);
    options_.progress({"pricing", done, done + static_cast<std::int64_t>(left), 0.0});
  }

  /// Plans that are left open: no bound lets them win, or a stop left them.
  void count_open(const Branching& open, std::int64_t& count) const {
    open.for_each_open(
        [&](const Candidate& node) { count += node.is_group ? tables_.of(node).plans_of_group(node) : 1; });
  }

 private:
  bool add_groups(std::uint32_t q, Branching& open) {
    const CandidateTable& table = *tables_.tables[q];
    struct Found {
      std::vector<Candidate> groups;
      std::int64_t bounded = 0;
    };
    const std::vector<std::size_t> order = table.families_by_stages();
    const std::size_t families = order.size();
    std::vector<Found> found((families + families_per_bound_task - 1) / families_per_bound_task);
    const IsWorth is_worth = [&](const PlanBound& bound) {
      return priced_.may_enter(tables_.score_of(bound.step, bound.peak_memory, q));
    };
    const bool is_done = parallel_for(
        found.size(), thread_count(options_.threads),
        [&](std::size_t task) {
          const auto of_task = std::span(order).subspan(task * families_per_bound_task);
          found[task].bounded = table.bound_groups(of_task.first(std::min(families_per_bound_task, of_task.size())),
                                                   found[task].groups, is_worth);
        },
        options_.stop);
    for (const Found& of_task : found) {
      priced_.audit().bound += of_task.bounded;
      for (const Candidate& group : of_task.groups) add(group, q, open);
    }
    return is_done;
  }

  void add(Candidate node, std::uint32_t question, Branching& open) const {
    node.question = question;
    node.score = tables_.score_of(node.step_time, node.peak_memory, question);
    open.add(node);
  }

  void take_plans(const Candidate& group, const CandidateBatch& plans, Branching& open) {
    SearchAudit& audit = priced_.audit();
    audit.memory += plans.too_large;
    audit.dominated += plans.dominated;
    for (const Candidate& plan : plans.fitting)
      if (plan.step_time > longest_step)
        ++audit.infeasible;
      else
        add(plan, group.question, open);
  }

  const SearchTables& tables_;
  const SearchOptions& options_;
  PricedPlans& priced_;
};

}  // namespace

PricedResult best_below(const SearchTables& tables, const SearchOptions& options, std::size_t most) {
  PricedPlans priced(options, most);
  PlansBelow plans(tables, options, priced);
  BranchAndBound<PlansBelow> branching(plans);
  PricedResult& result = priced.result();
  result.is_complete = plans.add_groups(branching) && branching.run(thread_count(options.threads), options.stop);
  plans.count_open(branching, result.is_complete ? result.audit.bound : result.audit.unvisited);
  return std::move(result);
}

}  // namespace plumbline
