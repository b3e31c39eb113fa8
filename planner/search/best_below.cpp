#include "planner/search/best_below.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <span>
#include <tuple>

#include "core/cost/time_limits.h"
#include "planner/search/parallel.h"

namespace plumbline {
namespace {

/// How many plans or groups are examined before the best plans found are updated, and how many of them may need the
/// least replay of a placement, which takes longest. Constants, so that the answer does not depend on the threads.
constexpr std::size_t opened_per_batch = 64;
constexpr std::size_t placed_per_batch = 8;
constexpr std::size_t families_per_bound_task = 64;

/// What is known of plans whose score is bounded.
enum class Known : std::uint8_t { group, memory, least_step, kept_price, surest_fit, surest_capped };

/// What a tighter bound makes known.
constexpr Known after(Known known) { return static_cast<Known>(static_cast<int>(known) + 1); }

/// Plans that may be among the best: of a group, or one.
struct Open {
  Score bound{};
  std::int32_t question = 0;
  Known known = Known::group;
  CandidateGroup group;  ///< whose plans' memory is not known yet
  Candidate candidate;   ///< otherwise

  [[nodiscard]] auto key() const {
    return std::tuple(bound, question, candidate.family, candidate.leaf, group.family, group.recompute);
  }
};
struct IsLater {
  bool operator()(const Open& a, const Open& b) const { return a.key() > b.key(); }
};

/// What came of looking at one.
struct Looked {
  CandidateBatch plans;  ///< of a group
  std::optional<PlanBound> tighter;
  std::optional<CandidatePrice> price;
};

class BelowSearch {
 public:
  BelowSearch(const std::vector<Question>& questions, const std::vector<std::unique_ptr<CandidateTable>>& tables,
              const SearchOptions& options, std::size_t most)
      : questions_(questions),
        tables_(tables),
        options_(options),
        threads_(thread_count(options.threads)),
        most_(most) {
    for (const Question& question : questions) certain_.push_back(question.certain_capacity());
  }

  BestBelow run() {
    for (std::size_t q = 0; q < tables_.size() && result_.is_complete; ++q) bound_groups(q);
    while (result_.is_complete) {
      const std::vector<Open> batch = next_batch();
      if (batch.empty()) break;
      look_at(batch);
      report();
    }
    for (; !open_.empty(); open_.pop()) count_unpriced(open_.top());
    return std::move(result_);
  }

 private:
  [[nodiscard]] const CandidateTable& table_of(const Open& open) const {
    return *tables_[static_cast<std::size_t>(open.question)];
  }
  [[nodiscard]] Score score_of(Picoseconds step, Bytes peak, std::int32_t question) const {
    const auto q = static_cast<std::size_t>(question);
    return plumbline::score_of(options_.objective, step, questions_[q].devices(), peak, certain_[q]);
  }
  [[nodiscard]] Score score_of(const RankedStrategy& plan) const {
    return score_of(plan.ranking_step(), plan.peak_memory, static_cast<std::int32_t>(plan.question));
  }
  [[nodiscard]] bool may_enter(const Score& bound) const {
    if (bound >= *options_.below) return false;
    return result_.best.size() < most_ || bound <= score_of(result_.best.back());
  }

  void bound_groups(std::size_t q) {
    const CandidateTable& table = *tables_[q];
    struct Found {
      std::vector<CandidateGroup> groups;
      std::int64_t bounded = 0;
    };
    const auto question = static_cast<std::int32_t>(q);
    const std::vector<std::size_t> order = table.families_by_stages();
    const std::size_t families = order.size();
    std::vector<Found> found((families + families_per_bound_task - 1) / families_per_bound_task);
    const IsWorth is_worth = [&](const PlanBound& bound) {
      return may_enter(score_of(bound.step, bound.peak_memory, question));
    };
    result_.is_complete = parallel_for(
        found.size(), threads_,
        [&](std::size_t task) {
          const auto of_task = std::span(order).subspan(task * families_per_bound_task);
          found[task].bounded = table.bound_groups(of_task.first(std::min(families_per_bound_task, of_task.size())),
                                                   found[task].groups, is_worth);
        },
        options_.stop);
    for (const Found& of_task : found) {
      result_.audit.bound += of_task.bounded;
      for (const CandidateGroup& group : of_task.groups)
        open_.push({score_of(group.bound, Bytes(0), question), question, Known::group, group, {}});
    }
  }

  std::vector<Open> next_batch() {
    std::vector<Open> batch;
    std::size_t placed = 0;
    while (!open_.empty() && batch.size() < opened_per_batch && may_enter(open_.top().bound)) {
      if (open_.top().known == Known::surest_capped && ++placed > placed_per_batch) break;
      batch.push_back(open_.top());
      open_.pop();
    }
    return batch;
  }

  [[nodiscard]] Looked looked_at(const Open& open) const {
    const CandidateTable& table = table_of(open);
    Looked result;
    if (open.known == Known::group)
      table.bound_group(open.group, result.plans);
    else if (open.known == Known::memory)
      result.tighter = table.tighter_bound(open.candidate, Tighter::without_sweep);
    else if (open.known == Known::least_step && table.is_placed(open.candidate))
      result.tighter = table.tighter_bound(open.candidate, Tighter::without_replay);
    else if (open.known == Known::kept_price)
      result.tighter = table.tighter_bound(open.candidate, Tighter::surest_fit);
    else if (open.known == Known::surest_fit)
      result.tighter = table.tighter_bound(open.candidate, Tighter::surest_capped);
    else
      result.price = table.price(open.candidate);
    return result;
  }

  void report() const {
    if (!options_.progress) return;
    const std::int64_t done = result_.audit.solved;
    options_.progress({"pricing", done, done + static_cast<std::int64_t>(open_.size()), 0.0});
  }

  void look_at(const std::vector<Open>& batch) {
    std::vector<std::optional<Looked>> looked(batch.size());
    result_.is_complete = parallel_for(
        batch.size(), threads_, [&](std::size_t i) { looked[i] = looked_at(batch[i]); }, options_.stop);
    for (std::size_t i = 0; i < batch.size(); ++i) looked[i] ? take(batch[i], *looked[i]) : count_unpriced(batch[i]);
    std::sort(result_.best.begin(), result_.best.end(),
              [&](const RankedStrategy& a, const RankedStrategy& b) { return before(a, score_of(a), b, score_of(b)); });
    if (result_.best.size() > most_) result_.best.resize(most_);
  }

  void take(const Open& open, const Looked& looked) {
    if (looked.price) {
      take_price(open, *looked.price);
    } else if (looked.tighter) {
      Open tighter = open;
      tighter.known = after(open.known);
      tighter.bound = std::max(open.bound, score_of(looked.tighter->step, looked.tighter->peak_memory, open.question));
      open_.push(tighter);
    } else {
      take_plans(open, looked.plans);
    }
  }

  void take_plans(const Open& group, const CandidateBatch& plans) {
    result_.audit.memory += plans.too_large;
    result_.audit.dominated += plans.dominated;
    for (const Candidate& plan : plans.fitting) {
      if (plan.bound > longest_step)
        ++result_.audit.infeasible;
      else
        open_.push({score_of(plan.bound, plan.peak_memory, group.question), group.question, Known::memory, {}, plan});
    }
  }

  void take_price(const Open& open, const CandidatePrice& price) {
    if (price.outcome == Outcome::repeated) ++result_.audit.dominated;
    const bool is_possible = price.outcome == Outcome::priced && price.step <= longest_step;
    if (price.outcome != Outcome::repeated && !is_possible) ++result_.audit.infeasible;
    if (!is_possible) return;
    ++result_.audit.solved;
    RankedStrategy plan =
        ranked_strategy(table_of(open), open.candidate, static_cast<std::size_t>(open.question), price);
    if (score_of(plan) < *options_.below) result_.best.push_back(std::move(plan));
  }

  void count_unpriced(const Open& open) {
    (result_.is_complete ? result_.audit.bound : result_.audit.unvisited) +=
        open.known == Known::group ? open.group.plans : 1;
  }

  const std::vector<Question>& questions_;
  const std::vector<std::unique_ptr<CandidateTable>>& tables_;
  const SearchOptions& options_;
  std::int32_t threads_;
  std::size_t most_;
  std::vector<Bytes> certain_;  ///< capacity by question
  std::priority_queue<Open, std::vector<Open>, IsLater> open_;
  BestBelow result_;
};

}  // namespace

Score score_of(Objective objective, Picoseconds step, std::int64_t devices, Bytes peak, Bytes certain) {
  return score(objective, peak <= certain ? MemoryFit::certain : MemoryFit::uncertain, step, devices, peak);
}

RankedStrategy ranked_strategy(const CandidateTable& table, const Candidate& candidate, std::size_t question,
                               const CandidatePrice& price) {
  const Training& training = table.question().training();
  return {table.strategy(candidate),
          table.question().devices(),
          training.precision,
          price.step,
          price.peak_memory,
          question,
          {},
          training.gradient_format,
          false,
          training.optimizer,
          training.adaptation.lora_rank};
}

BestBelow best_below(const std::vector<Question>& questions, const std::vector<std::unique_ptr<CandidateTable>>& tables,
                     const SearchOptions& options, std::size_t most) {
  return BelowSearch(questions, tables, options, most).run();
}

}  // namespace plumbline
