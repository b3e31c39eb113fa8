#include "planner/search/placed_bound.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/cost/time_limits.h"
#include "planner/checkpointing/placement.h"

namespace plumbline {
namespace {

/// The stages of ranks that are one stage each, where each rank replays so long
/// per micro-batch.
class ReplayingStages {
 public:
  ReplayingStages(const StageTable& kept, const std::vector<Picoseconds>& replays) : layout_(kept.layout()) {
    layout_.distinct.clear();
    layout_.first_rank.clear();
    std::vector<StageCost> costs;
    std::vector<std::pair<std::int32_t, Picoseconds>> seen;  // contents of `kept` and replays
    for (std::size_t rank = 0; rank < replays.size(); ++rank) {
      const auto content = static_cast<std::size_t>(kept.layout().of_rank[rank]);
      const std::pair key(kept.layout().of_rank[rank], replays[rank]);
      const auto same = std::find(seen.begin(), seen.end(), key);
      layout_.of_rank[rank] = static_cast<std::int32_t>(same - seen.begin());
      if (same != seen.end()) continue;
      seen.push_back(key);
      layout_.distinct.push_back(kept.layout().distinct[content]);
      layout_.first_rank.push_back(static_cast<std::int32_t>(rank));
      costs.push_back(kept[rank]);
      costs.back().recompute.compute += replays[rank];
    }
    table_.emplace(layout_, std::move(costs));
  }
  ReplayingStages(const ReplayingStages&) = delete;  // the table refers to the layout
  ReplayingStages& operator=(const ReplayingStages&) = delete;

  [[nodiscard]] const StageTable& table() const { return *table_; }

 private:
  StageLayout layout_;
  std::optional<StageTable> table_;
};

/// Replay that hides what a backward waits for its host may leave a forward to
/// wait less.
bool has_forward_waits(const StageTable& stages) {
  return std::any_of(stages.distinct().begin(), stages.distinct().end(),
                     [](const StageCost& stage) { return stage.forward_wait() > Picoseconds(0); });
}

/// Whether what a rank holds is known before it is placed: where backwards are
/// split, or chunks hold different layers, a placement is chosen by an estimate
/// (exact_placement.h).
bool is_memory_exact(const Strategy& s, const std::vector<RankContent>& chunks) {
  return !splits_backward(s.schedule) && std::all_of(chunks.begin(), chunks.end(), [&](const RankContent& chunk) {
    return chunk.executions == chunks.front().executions;
  });
}

/// By rank, per micro-batch.
struct LeastReplays {
  std::vector<Picoseconds> estimated;
  std::vector<Picoseconds> exact;  ///< none where what the rank holds is estimated
};

std::optional<LeastReplays> least_replays(const UnplacedPlan& plan, MemoryFit fit) {
  const RecomputePlacer placer(plan.question, plan.strategy, plan.layers);
  LeastReplays replays;
  for (std::int32_t rank = 0; rank < plan.strategy.pipeline_stages; ++rank) {
    const StageCost& stage = plan.kept[static_cast<std::size_t>(rank)];
    const std::vector<RankContent> chunks = placer.chunks_of(plan.kept.layout(), rank);
    const bool is_exact = is_memory_exact(plan.strategy, chunks);
    const bool is_certain = fit == MemoryFit::certain && is_exact;
    const Bytes capacity = is_certain ? plan.question.certain_capacity(stage.site) : plan.question.capacity(stage.site);
    const auto replay =
        placer.least_replay(capacity, chunks, stage, rank, is_exact ? plan.restored : Restored::ignored);
    if (!replay) return std::nullopt;
    replays.estimated.push_back(*replay);
    replays.exact.push_back(is_exact ? *replay : Picoseconds(0));
  }
  return replays;
}

/// What each rank does one after another, behind the first chunks of the ranks before.
Picoseconds one_by_one(const UnplacedPlan& plan, const std::vector<Picoseconds>& replays) {
  const Strategy& s = plan.strategy;
  const StepPricer& pricer = plan.question.step_pricer();
  Picoseconds bound(0);
  // The first chunks of the ranks before, as their mean or as they are: nothing begins here earlier or ends later.
  Picoseconds before(0);
  const bool fills = !pricer.steps_early(plan.kept, s);  // else a rank's step begins when it does
  for (std::size_t rank = 0; rank < replays.size(); ++rank) {
    const StageCost& stage = plan.kept[rank];
    bound = std::max(bound, before + repeated(stage.passes_with(replays[rank]), s.micro_batches, most_work));
    if (bound > longest_step) return bound;
    if (!fills) continue;
    const StageCost& first = plan.kept.stage(rank);
    const auto passes = [&](const StageCost& cost) {
      return splits_backward(s.schedule) ? cost.forward.total() : cost.forward_total() + cost.backward_total();
    };
    before += std::min(passes(stage) / std::int64_t{s.virtual_stages}, passes(first));
  }
  return bound + pricer.overhead();
}

}  // namespace

std::optional<Picoseconds> least_placed_step(const UnplacedPlan& plan, MemoryFit fit) {
  const auto replays = least_replays(plan, fit);
  if (!replays) return std::nullopt;
  const Picoseconds busiest = one_by_one(plan, replays->estimated);
  if (busiest > longest_step || splits_backward(plan.strategy.schedule)) return busiest;
  const StepPricer& pricer = plan.question.step_pricer();
  const Picoseconds with_once =
      plan.strategy.virtual_stages == 1 && !has_forward_waits(plan.kept)
          ? pricer.total(ReplayingStages(plan.kept, replays->exact).table(), plan.strategy, StepPricer::Sweep::left_out)
          : pricer.total(plan.kept, plan.strategy, StepPricer::Sweep::left_out, replays->exact);
  return std::max(busiest, without_rounding(with_once));
}

PlanBound with_least_replay(const UnplacedPlan& plan, PlanBound known) {
  const auto step = least_placed_step(plan, MemoryFit::uncertain);
  return {std::max(step.value_or(known.step), known.step), known.peak_memory};
}

PlanBound with_surest_fit(const UnplacedPlan& plan, PlanBound known) {
  if (plan.question.sites().count() > 1) return with_least_replay(plan, known);  // what is sure is said rank by rank
  if (const auto step = least_placed_step(plan, MemoryFit::certain))
    return {std::max(*step, known.step), known.peak_memory};
  // It holds more than what surely fits.
  known.peak_memory = std::max(known.peak_memory, plan.question.certain_capacity() + Bytes(1));
  return with_least_replay(plan, known);
}

}  // namespace plumbline
