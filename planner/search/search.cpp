#include "planner/search/search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>

#include "core/base/errors.h"
#include "core/cost/time_limits.h"
#include "planner/search/alike.h"
#include "planner/search/best_below.h"
#include "planner/search/bounded_plans.h"
#include "planner/search/candidates.h"
#include "planner/search/conflict.h"
#include "planner/search/finalists.h"
#include "planner/search/parallel.h"
#include "planner/search/refine.h"

namespace plumbline {
namespace {

/// Plans priced between two looks at the incumbent, the clock and the user. Fixed, so that the outcome is the same for
/// every number of threads.
constexpr std::size_t plans_per_batch = 512;
/// As many plans are kept for a row of plans that are alike: most rows stand for fewer, some for more.
constexpr std::size_t plans_per_row = 2;
/// Plans whose recompute is placed take longest: so many are priced between two looks at the best found.
constexpr std::size_t placed_per_round = 8;
/// Enough that the next have something to be compared with.
constexpr std::size_t plans_of_first_batch = 64;
/// A few milliseconds each at most.
constexpr std::size_t plans_after_stop = 16;

void count_plans(const CandidateTable& table, SearchAudit& audit) {
  audit.total += table.total_plans();
  for (const auto& [rule, count] : table.illegal()) audit.illegal[std::string(rule)] += count;
}

/// Fixed values that no strategy has are wrong input, not a search that finds nothing.
void require_plans(const std::vector<std::unique_ptr<CandidateTable>>& tables, const Question& question,
                   const SearchSpace& space) {
  for (const auto& table : tables)
    if (table->total_plans() > 0) return;
  throw InputError(conflict(question, space));
}

class Search {
 public:
  Search(const std::vector<Question>& questions, const SearchSpace& space, const SearchOptions& options)
      : questions_(questions),
        space_(space),
        options_(options),
        threads_(thread_count(options.threads)),
        most_(options.finalists == Finalists::simulated ? finalist_count(options.top) : options.top) {
    if (options.alike == Alike::folded) most_ *= plans_per_row;
    if (options.refinement == Refinement::around_best) shapes_.emplace();
    if (options.known_blocks != nullptr) options.known_blocks->resize(questions.size());
    for (std::size_t q = 0; q < questions.size(); ++q) {
      const Question& question = questions[q];
      BlockTables* const known = options.known_blocks == nullptr ? nullptr : &(*options.known_blocks)[q];
      tables_.push_back(std::make_unique<CandidateTable>(question, space, threads_, options.stop, known));
      certain_.push_back(question.certain_capacity());
      if (!tables_.back()->is_complete()) result_.complete = false;
    }
    if (result_.complete) require_plans(tables_, questions.front(), space);
  }

  SearchResult run() {
    for (std::size_t q = 0; q < tables_.size(); ++q) count_plans(*tables_[q], result_.audit);
    options_.below ? find_below() : find_best();
    if (shapes_ && result_.complete) refine_best();
    if (best_.empty() && has_too_long_ && !options_.below && result_.complete)
      throw InputError({"step", "takes more than 24 hours with every plan that fits",
                        "at most 24 hours: a smaller global batch, shorter sequences, or more GPUs", ""});
    if (best_.empty() && !options_.below) find_nearest_miss();
    if (options_.split == StageSplit::balanced) balance_best();
    move_layers_of_best();
    if (options_.finalists == Finalists::simulated) simulate_best();
    if (options_.pareto) result_.pareto = front_of(std::move(priced_));
    take_best();
    return std::move(result_);
  }

 private:
  void take_best() {
    for (RankedStrategy& plan : best_) plan.may_not_fit = plan.peak_memory > certain_[plan.question];
    FoldedRanking ranking;
    if (options_.alike == Alike::folded) ranking = folded(std::move(best_));
    if (options_.alike == Alike::apart) ranking.first = std::move(best_);
    ranking.rest.resize(ranking.first.size());
    if (options_.alike == Alike::folded && options_.objective == Objective::step_time) lead_with_simplest(ranking);
    const std::size_t count = std::min(options_.top, ranking.first.size());
    ranking.first.resize(count);
    ranking.rest.resize(count);
    result_.best = std::move(ranking.first);
    result_.alike = std::move(ranking.rest);
  }

  void find_best() {
    const auto score_of_plan = [this](Picoseconds step, Bytes peak, std::size_t q) { return score_of(step, peak, q); };
    const auto report_families = [this](std::int64_t done, std::int64_t total) { report("bounding", done, total); };
    BoundedPlans bounded =
        bounded_plans(tables_, score_of_plan, {threads_, options_.stop, report_families}, result_.audit);
    result_.complete = result_.complete && bounded.is_complete;
    entries_ = std::move(bounded.plans);
    missed_ = bounded.smallest_too_large;
    has_too_long_ = bounded.has_too_long;
    price_best();
  }

  void find_below() {
    for (const auto& table : tables_)
      if (!table->is_complete()) result_.complete = false, result_.audit.unvisited += leaves_of(*table);
    if (!result_.complete) return;
    BestBelow found = best_below(questions_, tables_, options_, most_);
    best_ = std::move(found.best);
    result_.complete = found.is_complete;
    found.audit.total = result_.audit.total;
    found.audit.illegal = std::move(result_.audit.illegal);
    result_.audit = std::move(found.audit);
  }

  Score score_of(Picoseconds step, Bytes peak, std::size_t q) const {
    return plumbline::score_of(options_.objective, step, questions_[q].devices(), peak, certain_[q]);
  }
  Score score_of(const RankedStrategy& r) const { return score_of(r.ranking_step(), r.peak_memory, r.question); }
  void rank(std::vector<RankedStrategy>& plans) const {
    std::sort(plans.begin(), plans.end(),
              [&](const RankedStrategy& a, const RankedStrategy& b) { return before(a, score_of(a), b, score_of(b)); });
  }

  /// What is found stands alongside the best, which are not cut: they are what it is compared with.
  void refine_best() {
    if (best_.empty()) return;
    const Score worst = best_.size() < most_ ? Score{std::numeric_limits<std::int64_t>::max()} : score_of(best_.back());
    const auto score_of_plan = [this](Picoseconds step, Bytes peak, std::size_t q) { return score_of(step, peak, q); };
    Refined found = refined(*shapes_, space_, score_of_plan, worst, {questions_, threads_, options_.stop, {}});
    result_.complete = found.is_complete;
    result_.audit.refined = found.priced;
    add_to_front(found.plans);
    best_.insert(best_.end(), found.plans.begin(), found.plans.end());
    rank(best_);
    leave_out_repeats(best_);  // a variant may be a plan that was found before
  }

  void find_nearest_miss() {
    for (std::size_t q = 0; q < tables_.size() && result_.complete; ++q) {
      std::optional<Candidate> placed;
      if (missed_) placed = missed_->first;
      const Bytes before = placed ? placed->peak_memory : Bytes::largest();
      for (std::size_t f = 0; f < tables_[q]->family_count(); ++f) {
        if (options_.stop.stop_requested()) result_.complete = false;
        if (!result_.complete) break;
        tables_[q]->nearest_placed(f, placed);
      }
      if (placed && placed->peak_memory < before) missed_ = {*placed, q};
    }
    if (missed_)
      result_.nearest_miss = ranked_strategy(*tables_[missed_->second], missed_->first, missed_->second,
                                             {Outcome::infeasible, Picoseconds(0), missed_->first.peak_memory});
  }

  void balance_best() {
    result_.complete = add_balanced(best_, {questions_, threads_, options_.stop, {}}) && result_.complete;
    rank(best_);
  }

  /// In mixed clusters; two plans may come to the same.
  void move_layers_of_best() {
    const auto is_mixed = [](const Question& question) { return question.sites().count() > 1; };
    if (std::none_of(questions_.begin(), questions_.end(), is_mixed)) return;
    const SimulationContext context{questions_, threads_, options_.stop, {}};
    result_.complete = add_moved_layers(best_, context, space_.allows) && result_.complete;
    rank(best_);
    leave_out_repeats(best_);
  }

  /// Simulates the best plans and the front. Stopped, both stay as the closed form ranks them.
  void simulate_best() {
    const SimulationContext context{questions_, threads_, options_.stop,
                                    [&](std::int64_t done, std::int64_t total) { report("simulating", done, total); }};
    bool done = simulate_finalists(best_, options_.top, context);
    if (done && options_.pareto) done = simulate(priced_, 0, priced_.size(), context);
    if (!done) {
      result_.complete = false;
      for (std::vector<RankedStrategy>* plans : {&best_, &priced_})
        for (RankedStrategy& plan : *plans) plan.simulated.reset();
    }
    rank(best_);
  }

  /// Whether a plan with this bound can still be among the best `top`.
  bool may_enter(const BoundedPlan& entry) const {
    if (best_.size() < most_) return true;
    return !best_.empty() && entry.bound <= score_of(best_.back());
  }
  /// Whether a plan with this bound can still be on the front of time and memory: no priced plan is as good in both.
  bool may_join_front(const BoundedPlan& entry) const {
    return std::none_of(archive_.begin(), archive_.end(), [&](const RankedStrategy& r) {
      return r.step_time <= entry.candidate.bound && r.peak_memory <= entry.candidate.peak_memory;
    });
  }

  /// Whether an entry can still be among the best, or on the front, where it takes and holds at least so much.
  bool is_worth(BoundedPlan entry, const PlanBound& bound) const {
    entry.candidate.bound = bound.step;
    entry.bound = score_of(bound.step, bound.peak_memory, static_cast<std::size_t>(entry.question));
    return may_enter(entry) || (options_.pareto && may_join_front(entry));
  }

  void price_best() {
    std::size_t next = 0;
    std::vector<PlacedCandidate> placed;  // bounded and not priced, worst first
    while (next < entries_.size() || !placed.empty()) {
      const bool has_next = next < entries_.size() && (options_.pareto || may_enter(entries_[next]));
      if (!has_next && placed.empty()) break;  // bounds are sorted: no later one can
      const bool is_placed_first = !placed.empty() && (!has_next || placed.back().score <= entries_[next].bound);
      std::vector<std::size_t> left = is_placed_first ? price_placed(placed) : price_batch(next_batch(next), placed);
      report("pricing", static_cast<std::int64_t>(next), static_cast<std::int64_t>(entries_.size()));
      if (left.empty()) continue;
      for (const PlacedCandidate& one : placed) left.push_back(one.entry);
      for (; next < entries_.size(); ++next) left.push_back(next);
      return price_no_more(left);
    }
    result_.audit.bound += static_cast<std::int64_t>(entries_.size() - next);
  }

  /// Prices what takes no placement, bounds the others, and answers what a stop leaves.
  std::vector<std::size_t> price_batch(const std::vector<std::size_t>& batch, std::vector<PlacedCandidate>& placed) {
    std::vector<LookedAt> looked(batch.size());
    parallel_for(
        batch.size(), threads_, [&](std::size_t i) { looked[i] = looked_at(batch[i]); }, options_.stop);
    std::vector<std::size_t> left;
    std::vector<std::optional<PricedCandidate>> priced;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (looked[i].placed) placed.push_back(*looked[i].placed);
      if (looked[i].priced) priced.push_back(std::move(looked[i].priced));
      if (!looked[i].placed && !looked[i].priced) left.push_back(batch[i]);
    }
    std::sort(placed.begin(), placed.end(),
              [](const PlacedCandidate& a, const PlacedCandidate& b) { return a.key() > b.key(); });
    merge(priced);
    return left;
  }

  /// The best bounded of them, and answers what a stop leaves.
  std::vector<std::size_t> price_placed(std::vector<PlacedCandidate>& placed) {
    std::vector<PlacedCandidate> first;
    for (; !placed.empty() && first.size() < placed_per_round; placed.pop_back()) first.push_back(placed.back());
    std::vector<std::optional<PricedCandidate>> priced(first.size());
    parallel_for(
        first.size(), threads_,
        [&](std::size_t i) {
          const BoundedPlan& entry = entries_[first[i].entry];
          priced[i] = is_worth(entry, first[i].bound) ? priced_entry(entry) : PricedCandidate{};
        },
        options_.stop);
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < first.size(); ++i)
      if (!priced[i]) left.push_back(first[i].entry);
    merge(priced);
    return left;
  }

  [[nodiscard]] LookedAt looked_at(std::size_t index) const {
    const BoundedPlan& entry = entries_[index];
    const auto q = static_cast<std::size_t>(entry.question);
    if (!tables_[q]->is_placed(entry.candidate)) return {priced_entry(entry), {}};
    PlacedCandidate placed{entry.bound, index, {entry.candidate.bound, entry.candidate.peak_memory}};
    const std::span<const Tighter> ways =
        options_.pareto ? std::span<const Tighter>(ways_for_front) : std::span<const Tighter>(ways_for_ranking);
    for (const Tighter way : ways) {  // cheap before dear
      const PlanBound bound = tables_[q]->tighter_bound(entry.candidate, way);
      if (!is_worth(entry, bound)) return {PricedCandidate{}, {}};
      const Score score = score_of(bound.step, bound.peak_memory, q);
      if (placed.score < score) placed = {score, index, bound};
    }
    return {{}, placed};
  }

  [[nodiscard]] PricedCandidate priced_entry(const BoundedPlan& entry) const {
    const auto q = static_cast<std::size_t>(entry.question);
    const CandidatePrice price = tables_[q]->price(entry.candidate);
    PricedCandidate result{price.outcome, {}};
    if (price.outcome == Outcome::priced) result.plan = ranked_strategy(*tables_[q], entry.candidate, q, price);
    return result;
  }

  /// A stop leaves entries unpriced; but where nothing was priced yet, the first whose prices are quickly had are not.
  void price_no_more(const std::vector<std::size_t>& left) {
    result_.complete = false;
    result_.audit.unvisited += static_cast<std::int64_t>(left.size());
    if (!best_.empty()) return;
    const auto is_quick = [&](std::size_t i) {
      return !tables_[static_cast<std::size_t>(entries_[i].question)]->is_placed(entries_[i].candidate);
    };
    std::vector<std::optional<PricedCandidate>> quick;
    for (auto i = left.begin(); i != left.end() && quick.size() < plans_after_stop; ++i)
      if (is_quick(*i)) quick.emplace_back(priced_entry(entries_[*i]));
    result_.audit.unvisited -= static_cast<std::int64_t>(quick.size());
    merge(quick);
  }

  /// The next plans worth a price; moves `next` past them and past those that are not.
  std::vector<std::size_t> next_batch(std::size_t& next) {
    std::vector<std::size_t> batch;
    const std::size_t most = next == 0 ? plans_of_first_batch : plans_per_batch;
    for (; next < entries_.size() && batch.size() < most; ++next) {
      const bool enters = may_enter(entries_[next]);
      if (!enters && !options_.pareto) break;
      if (enters || may_join_front(entries_[next])) {
        batch.push_back(next);
      } else {
        ++result_.audit.dominated;
      }
    }
    return batch;
  }

  /// What a stop left out of a batch is empty.
  void merge(std::vector<std::optional<PricedCandidate>>& priced) {
    std::vector<RankedStrategy> fitting;
    for (std::optional<PricedCandidate>& one : priced) {
      if (!one) continue;
      PricedCandidate& entry = *one;
      if (entry.outcome == Outcome::priced && entry.plan.step_time > longest_step) {
        has_too_long_ = true;
        entry.outcome = Outcome::infeasible;
      }
      if (entry.outcome == Outcome::priced) fitting.push_back(std::move(entry.plan));
      if (entry.outcome == Outcome::infeasible) ++result_.audit.infeasible;
      if (entry.outcome == Outcome::repeated) ++result_.audit.dominated;
      if (entry.outcome == Outcome::bounded) ++(options_.pareto ? result_.audit.dominated : result_.audit.bound);
    }
    result_.audit.solved += static_cast<std::int64_t>(fitting.size());
    best_.insert(best_.end(), fitting.begin(), fitting.end());
    rank(best_);
    if (best_.size() > most_) best_.resize(most_);
    if (shapes_)
      for (const RankedStrategy& plan : fitting) shapes_->consider(plan, score_of(plan));
    add_to_front(fitting);
  }
  void add_to_front(const std::vector<RankedStrategy>& plans) {
    if (!options_.pareto) return;
    priced_.insert(priced_.end(), plans.begin(), plans.end());
    priced_ = front_of(std::move(priced_));
    archive_ = priced_;
  }

  void report(std::string_view phase, std::int64_t done, std::int64_t total) const {
    if (options_.best_so_far && !best_.empty()) options_.best_so_far(best_);
    if (!options_.progress) return;
    options_.progress({phase, done, total, best_.empty() ? 0.0 : to_seconds(best_.front().ranking_step()).value()});
  }

  const std::vector<Question>& questions_;
  const SearchSpace& space_;
  const SearchOptions& options_;
  std::int32_t threads_;
  std::size_t most_;  ///< plans that are kept by closed form
  std::vector<std::unique_ptr<CandidateTable>> tables_;
  std::vector<Bytes> certain_;  ///< capacity by question
  std::vector<BoundedPlan> entries_;
  std::vector<RankedStrategy> best_;
  std::vector<RankedStrategy> priced_;
  std::vector<RankedStrategy> archive_;
  std::optional<BestOfShapes> shapes_;  ///< where the best are refined
  std::optional<std::pair<Candidate, std::size_t>> missed_;
  bool has_too_long_ = false;  ///< whether a plan fits whose step is longer than any that is priced
  SearchResult result_;
};

}  // namespace

std::int64_t SearchAudit::accounted() const {
  std::int64_t sum = memory + bound + dominated + infeasible + solved + unvisited;
  for (const auto& [rule, count] : illegal) sum += count;
  return sum;
}

SearchResult search(const std::vector<Question>& questions, const SearchSpace& space, const SearchOptions& options) {
  check(!questions.empty(), "a search answers at least one question");
  return Search(questions, space, options).run();
}

Score closed_form_score(const RankedStrategy& plan, const Question& question, Objective objective) {
  return score_of(objective, plan.step_time, question.devices(), plan.peak_memory, question.certain_capacity());
}

}  // namespace plumbline
