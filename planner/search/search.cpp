#include "planner/search/search.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "core/base/errors.h"
#include "planner/search/best_below.h"
#include "planner/search/best_of_all.h"
#include "planner/search/bounded_plans.h"
#include "planner/search/conflict.h"
#include "planner/search/equivalent.h"
#include "planner/search/finalists.h"
#include "planner/search/parallel.h"
#include "planner/search/refine.h"

namespace plumbline {
namespace {

/// As many plans are kept for a row of plans that are equivalent: most rows stand for fewer, some for more.
constexpr std::size_t plans_per_row = 2;

void count_plans(const CandidateTable& table, SearchAudit& audit) {
  audit.total += table.total_plans();
  for (const auto& [rule, count] : table.illegal()) audit.illegal[std::string(rule)] += count;
}

/// Fixed values that no strategy has are wrong input, not a search that finds nothing.
void require_plans(const SearchTables& tables, const Question& question, const SearchSpace& space) {
  for (const auto& table : tables.tables)
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
        blocks_(options.known_blocks != nullptr ? *options.known_blocks : own_blocks_),
        most_(options.finalists == Finalists::simulated ? finalist_count(options.top) : options.top),
        tables_{{}, Scoring(questions, options.objective)} {
    if (options.equivalents == Equivalents::folded) most_ *= plans_per_row;
    blocks_.resize(questions.size());
    for (std::size_t q = 0; q < questions.size(); ++q) {
      tables_.tables.push_back(
          std::make_unique<CandidateTable>(questions[q], space, threads_, options.stop, &blocks_[q]));
      if (!tables_.tables.back()->is_complete()) result_.complete = false;
    }
    if (result_.complete) require_plans(tables_, questions.front(), space);
  }

  SearchResult run() {
    for (const auto& table : tables_.tables) count_plans(*table, result_.audit);
    options_.below ? find_below() : find_best();
    if (options_.refinement == Refinement::around_best && result_.complete) refine_best();
    if (best_.empty() && has_too_long_ && !options_.below && result_.complete)
      throw InputError({"step", "takes more than 24 hours with every plan that fits",
                        "at most 24 hours: a smaller global batch, shorter sequences, or more GPUs", ""});
    if (best_.empty() && !options_.below) find_nearest_miss();
    if (options_.split == StageSplit::balanced) balance_best();
    move_layers_of_best();
    if (options_.finalists == Finalists::simulated) simulate_best();
    if (options_.pareto) result_.pareto = front_of(std::move(front_));
    take_best();
    return std::move(result_);
  }

 private:
  void take_best() {
    for (RankedStrategy& plan : best_)
      plan.may_not_fit = plan.peak_memory > tables_.score_of.certain_capacity(plan.question);
    FoldedRanking ranking;
    if (options_.equivalents == Equivalents::folded) ranking = folded(std::move(best_));
    if (options_.equivalents == Equivalents::apart) ranking.first = std::move(best_);
    ranking.rest.resize(ranking.first.size());
    if (options_.equivalents == Equivalents::folded && options_.objective == Objective::step_time)
      lead_with_simplest(ranking);
    const std::size_t count = std::min(options_.top, ranking.first.size());
    ranking.first.resize(count);
    ranking.rest.resize(count);
    result_.best = std::move(ranking.first);
    result_.equivalent = std::move(ranking.rest);
  }

  void find_best() {
    BestOfAll found = best_of_all(tables_, options_, most_);
    missed_ = found.smallest_too_large;
    take(std::move(found.priced));
  }

  void find_below() {
    for (const auto& table : tables_.tables)
      if (!table->is_complete()) result_.complete = false, result_.audit.unvisited += leaves_of(*table);
    if (result_.complete) take(best_below(tables_, options_, most_));
  }

  void take(PricedResult found) {
    found.audit.total = result_.audit.total;
    found.audit.illegal = std::move(result_.audit.illegal);
    result_.audit = std::move(found.audit);
    result_.complete = result_.complete && found.is_complete;
    best_ = std::move(found.best);
    front_ = std::move(found.front);
    shapes_ = std::move(found.shapes);
    has_too_long_ = found.has_too_long;
  }

  /// Scores are of what is known by now: of finalists the simulated step.
  void rank(std::vector<RankedStrategy>& plans) const {
    for (RankedStrategy& plan : plans) plan.score = tables_.score_of(plan);
    std::sort(plans.begin(), plans.end(), before);
  }

  /// What is found stands alongside the best, which are not cut: they are what it is compared with.
  void refine_best() {
    if (best_.empty()) return;
    const Score worst = best_.size() < most_ ? Score{std::numeric_limits<std::int64_t>::max()} : best_.back().score;
    Refined found =
        refined(shapes_, space_, tables_.score_of, worst, {questions_, blocks_, threads_, options_.stop, {}});
    result_.complete = found.is_complete;
    result_.audit.refined = found.priced;
    if (options_.pareto) add_to_front(front_, found.plans);
    best_.insert(best_.end(), found.plans.begin(), found.plans.end());
    rank(best_);
    leave_out_repeats(best_);  // a variant may be a plan that was found before
  }

  void find_nearest_miss() {
    for (std::size_t q = 0; q < tables_.tables.size() && result_.complete; ++q) {
      std::optional<Candidate> placed = missed_;
      const Bytes before = placed ? placed->peak_memory : Bytes::largest();
      const CandidateTable& table = *tables_.tables[q];
      for (std::size_t f = 0; f < table.family_count(); ++f) {
        if (options_.stop.stop_requested()) result_.complete = false;
        if (!result_.complete) break;
        table.nearest_placed(f, placed);
      }
      if (!placed || placed->peak_memory >= before) continue;
      missed_ = placed;
      missed_->question = static_cast<std::uint32_t>(q);
    }
    if (!missed_) return;
    missed_->outcome = Outcome::infeasible;
    missed_->step_time = Picoseconds(0);  // it is not priced
    result_.nearest_miss = written_out(tables_.of(*missed_), *missed_);
  }

  void balance_best() {
    result_.complete = add_balanced(best_, {questions_, blocks_, threads_, options_.stop, {}}) && result_.complete;
    rank(best_);
  }

  /// In mixed clusters; two plans may come to the same.
  void move_layers_of_best() {
    const auto is_mixed = [](const Question& question) { return question.sites().count() > 1; };
    if (std::none_of(questions_.begin(), questions_.end(), is_mixed)) return;
    const SimulationContext context{questions_, blocks_, threads_, options_.stop, {}};
    result_.complete = add_moved_layers(best_, context, space_.allows) && result_.complete;
    rank(best_);
    leave_out_repeats(best_);
  }

  /// Simulates the best plans and the front. Stopped, both stay as the closed form ranks them.
  void simulate_best() {
    const SimulationContext context{questions_, blocks_, threads_, options_.stop,
                                    [&](std::int64_t done, std::int64_t total) {
                                      report_best(options_, {"simulating", done, total}, best_);
                                    }};
    bool done = simulate_finalists(best_, options_.top, context);
    if (done && options_.pareto) done = simulate(front_, 0, front_.size(), context);
    if (!done) {
      result_.complete = false;
      for (std::vector<RankedStrategy>* plans : {&best_, &front_})
        for (RankedStrategy& plan : *plans) plan.simulated.reset();
    }
    rank(best_);
  }

  const std::vector<Question>& questions_;
  const SearchSpace& space_;
  const SearchOptions& options_;
  std::int32_t threads_;
  std::vector<BlockTables> own_blocks_;  ///< where none are known
  std::vector<BlockTables>& blocks_;     ///< by question
  std::size_t most_;                     ///< plans that are kept by closed form
  SearchTables tables_;
  std::vector<RankedStrategy> best_;
  std::vector<RankedStrategy> front_;
  BestOfShapes shapes_;  ///< where the best are refined
  std::optional<Candidate> missed_;
  bool has_too_long_ = false;  ///< whether a plan fits whose step is longer than any that is priced
  SearchResult result_;
};

}  // namespace

SearchResult search(const std::vector<Question>& questions, const SearchSpace& space, const SearchOptions& options) {
  check(!questions.empty(), "a search answers at least one question");
  return Search(questions, space, options).run();
}

Score closed_form_score(const RankedStrategy& plan, const Question& question, Objective objective) {
  const bool is_certain = plan.peak_memory <= question.certain_capacity();
  return score(objective, is_certain ? MemoryFit::certain : MemoryFit::uncertain, plan.step_time, question.devices(),
               plan.peak_memory);
}

}  // namespace plumbline
