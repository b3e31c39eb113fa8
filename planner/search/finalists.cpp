#include "planner/search/finalists.h"

#include <algorithm>
#include <cmath>

#include "planner/pricing/peak_memory.h"
#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"
#include "planner/search/parallel.h"
#include "planner/search/site_splits.h"

namespace plumbline {
namespace {

/// Plans between two looks at the stop button. Fixed, so that the outcome is the same for every number of threads.
constexpr std::size_t finalists_per_batch = 8;

double disagreement(const RankedStrategy& plan) {
  const auto closed = static_cast<double>(plan.step_time.value());
  return std::abs(static_cast<double>(plan.ranking_step().value()) - closed) / closed;
}

bool may_balance(const Strategy& s) {
  return s.schedule == Schedule::one_f_one_b && s.virtual_stages == 1 && s.split == StageSplit::even &&
         s.layers_per_stage.empty();
}

std::optional<RankedStrategy> balanced(const RankedStrategy& plan, const Question& question, KnownPrograms& known) {
  RankedStrategy twin = plan;
  twin.strategy.split = StageSplit::balanced;
  const std::vector<BlockCost> blocks = block_costs(question, twin.strategy, &known);
  const StageLayout layout = layout_of(question, twin.strategy, blocks);
  const StageTable stages(question.graph(), layout, blocks);
  twin.step_time = question.step_pricer().total(stages, twin.strategy);
  twin.peak_memory = peak_memory(question, stages, twin.strategy);
  const bool fits = twin.peak_memory <= question.capacity() && fits_host(question, stages, twin.strategy);
  if (!fits || twin.step_time >= plan.step_time) return std::nullopt;
  return twin;
}

/// Puts alongside each of the first `count` plans what `other` makes of it. False when it was stopped.
template <class Other>
bool add_twins(std::vector<RankedStrategy>& plans, std::size_t count, const SimulationContext& context,
               const Other& other) {
  for (std::size_t first = 0; first < count; first += finalists_per_batch) {
    std::vector<std::optional<RankedStrategy>> twins(std::min(finalists_per_batch, count - first));
    const bool done = parallel_for(
        twins.size(), context.threads,
        [&](std::size_t i) {
          const RankedStrategy& plan = plans[first + i];
          twins[i] = other(plan, context.questions[plan.question], context.blocks[plan.question].programs());
        },
        context.stop);
    for (std::optional<RankedStrategy>& twin : twins)
      if (twin) plans.push_back(std::move(*twin));
    if (!done) return false;
  }
  return true;
}

}  // namespace

bool add_balanced(std::vector<RankedStrategy>& plans, const SimulationContext& context) {
  return add_twins(plans, plans.size(), context,
                   [](const RankedStrategy& plan, const Question& question, KnownPrograms& known) {
                     return may_balance(plan.strategy) ? balanced(plan, question, known) : std::nullopt;
                   });
}

bool add_moved_layers(std::vector<RankedStrategy>& plans, const SimulationContext& context,
                      const std::function<bool(const Strategy&)>& allows) {
  const auto moved = [&](const RankedStrategy& plan, const Question& question, KnownPrograms& known) {
    auto twin = with_moved_layers(plan, question, &known);
    return twin && (!allows || allows(twin->strategy)) ? std::move(twin) : std::nullopt;
  };
  return add_twins(plans, std::min(plans.size(), most_finalists), context, moved);
}

std::size_t finalist_count(std::size_t top) { return std::max(top, most_finalists); }

bool simulate(std::vector<RankedStrategy>& plans, std::size_t first, std::size_t last,
              const SimulationContext& context) {
  for (; first < last; first += finalists_per_batch) {
    const std::size_t count = std::min(finalists_per_batch, last - first);
    const bool done = parallel_for(
        count, context.threads,
        [&](std::size_t i) {
          RankedStrategy& plan = plans[first + i];
          plan.simulated = simulated_step(context.questions[plan.question], plan.strategy, context.stop,
                                          &context.blocks[plan.question].programs());
        },
        context.stop);
    if (!done || context.stop.stop_requested()) return false;
    if (context.report) context.report(static_cast<std::int64_t>(first + count), static_cast<std::int64_t>(last));
  }
  return true;
}

bool simulate_finalists(std::vector<RankedStrategy>& plans, std::size_t top, const SimulationContext& context) {
  const std::size_t most = std::min(plans.size(), most_finalists);
  const std::size_t first = std::min(most, finalists_per_plan * top);
  if (!simulate(plans, 0, first, context) || first == 0) return first == 0;
  double largest = 0;
  for (std::size_t i = 0; i < first; ++i) largest = std::max(largest, disagreement(plans[i]));
  const double limit = static_cast<double>(plans[first - 1].step_time.value()) * (1 + largest);
  std::size_t last = first;
  while (last < most && static_cast<double>(plans[last].step_time.value()) <= limit) ++last;
  return simulate(plans, first, last, context);
}

}  // namespace plumbline
