#include "planner/search/equivalent.h"

#include <algorithm>
#include <tuple>

#include "core/plan/priced_values.h"
#include "planner/question/noise.h"
#include "planner/search/complexity.h"

namespace plumbline {
namespace {

/// of plans that may be equivalent: what they do not differ in. Kernels of attention they may.
auto shape(const RankedStrategy& plan) {
  Strategy s = plan.strategy;
  s.flash_attention = {};
  return std::tuple(plan.question, s.pipeline_stages, s.data_parallel, values_priced_in<PricedIn::blocks>(s));
}

/// By more than repetitions of one run differ.
template <class Quantity>
bool is_less(Quantity one, Quantity other) {
  return static_cast<double>(one.value()) * (1 + repeated_run_noise) < static_cast<double>(other.value());
}

}  // namespace

bool is_like(const RankedStrategy& other, const RankedStrategy& better) {
  const bool is_as_fast =
      !is_less(better.ranking_step(), other.ranking_step()) && !is_less(other.ranking_step(), better.ranking_step());
  const bool is_slower_for_nothing =
      better.ranking_step() <= other.ranking_step() && !is_less(other.peak_memory, better.peak_memory);
  return shape(other) == shape(better) && other.may_not_fit == better.may_not_fit &&
         (is_as_fast || is_slower_for_nothing);
}

FoldedRanking folded(std::vector<RankedStrategy> ranking) {
  FoldedRanking result;
  for (RankedStrategy& plan : ranking) {
    const auto like = std::find_if(result.first.begin(), result.first.end(),
                                   [&](const RankedStrategy& first) { return is_like(plan, first); });
    if (like != result.first.end()) {
      result.rest[static_cast<std::size_t>(like - result.first.begin())].push_back(std::move(plan));
      continue;
    }
    result.first.push_back(std::move(plan));
    result.rest.emplace_back();
  }
  return result;
}

void lead_with_simplest(FoldedRanking& ranking) {
  if (ranking.first.empty()) return;
  const RankedStrategy fastest_of_all = ranking.first.front();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < ranking.first.size(); ++i) {
    const Picoseconds fastest = ranking.first[i].ranking_step();
    for (RankedStrategy& other : ranking.rest[i])
      if (!is_less(fastest, other.ranking_step()) &&
          complexity(other.strategy, other.peak_memory) <
              complexity(ranking.first[i].strategy, ranking.first[i].peak_memory))
        std::swap(ranking.first[i], other);
    order.push_back(i);
  }
  const auto by_time = [&](std::size_t a, std::size_t b) {
    const auto place = [&](const RankedStrategy& plan) { return std::pair(plan.may_not_fit, plan.ranking_step()); };
    return place(ranking.first[a]) < place(ranking.first[b]);
  };
  std::stable_sort(order.begin(), order.end(), by_time);
  const auto slower = std::find_if(order.begin(), order.end(), [&](std::size_t i) {
    const RankedStrategy& plan = ranking.first[i];
    return plan.may_not_fit != fastest_of_all.may_not_fit || plan.question != fastest_of_all.question ||
           is_less(fastest_of_all.ranking_step(), plan.ranking_step());
  });
  std::stable_sort(order.begin(), slower, [&](std::size_t a, std::size_t b) {
    const auto of = [&](const RankedStrategy& plan) { return complexity(plan.strategy, plan.peak_memory); };
    return of(ranking.first[a]) < of(ranking.first[b]);
  });
  FoldedRanking sorted;
  for (const std::size_t i : order) {
    sorted.first.push_back(std::move(ranking.first[i]));
    sorted.rest.push_back(std::move(ranking.rest[i]));
  }
  ranking = std::move(sorted);
}

}  // namespace plumbline
