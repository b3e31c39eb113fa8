#include "planner/search/refine.h"

#include <algorithm>
#include <optional>

#include "core/cost/time_limits.h"
#include "planner/checkpointing/rank_layers.h"
#include "planner/pricing/peak_memory.h"
#include "planner/pricing/priced.h"
#include "planner/search/block_tables.h"
#include "planner/search/level_split.h"
#include "planner/search/parallel.h"
#include "planner/search/placed_bound.h"

namespace plumbline {
namespace {

/// More improve a plan by less than is worth its time.
constexpr int most_rounds = 4;

constexpr std::size_t shapes_on_all_axes = 10;
constexpr std::size_t shapes_on_same_blocks = 40;  ///< those on all axes among them

/// Whether their blocks cost the same and leave a placement the same choices.
bool have_same_blocks(const Strategy& a, const Strategy& b) {
  return (a.recompute.mode == RecomputeMode::placed) == (b.recompute.mode == RecomputeMode::placed) &&
         block_key(a) == block_key(b);
}

/// The blocks of plans that share them, priced.
struct PricedBlocks {
  PricedBlocks(const Question& question, const Strategy& of, KnownPrograms& known)
      : strategy(of), costs(block_costs(question, of, &known)), table(costs), layers(question.graph(), costs) {}
  Strategy strategy;
  std::vector<BlockCost> costs;
  RankLayersTable table;
  LayerTimes layers;
};

/// A plan to vary, or one that a round has found.
struct Start {
  RankedStrategy plan;
  VariantAxes axes = VariantAxes::all;
  VariantValues values = VariantValues::all;
};
struct BestVariant {
  std::optional<RankedStrategy> plan;
  std::int64_t priced = 0;
};

/// The best variant of one plan.
class VariantSearch {
 public:
  VariantSearch(const Start& start, const Question& question, KnownPrograms& known, const Scoring& score_of,
                const Score& worst)
      : start_(start), question_(question), known_(known), score_of_(score_of), best_score_(start.plan.score) {
    if (worst < best_score_) best_score_ = worst;
  }

  BestVariant best(const SearchSpace& space) {
    for (const Strategy& variant : variants_of(start_.plan.strategy, question_, space, start_.axes, start_.values)) {
      consider(variant);
      if (const auto level = levelled(variant, space)) consider(*level);
    }
    return std::move(best_);
  }

 private:
  const PricedBlocks& blocks_of(const Strategy& variant) {
    std::optional<PricedBlocks>& blocks = have_same_blocks(variant, start_.plan.strategy) ? own_ : other_;
    if (!blocks || !have_same_blocks(blocks->strategy, variant)) blocks.emplace(question_, variant, known_);
    return *blocks;
  }

  std::optional<Strategy> levelled(const Strategy& variant, const SearchSpace& space) {
    const bool is_split_by_rule = variant.layers_per_stage.empty() && variant.split == StageSplit::even;
    if (!space.has_level_splits || !is_split_by_rule || question_.sites().count() > 1) return std::nullopt;
    auto layers = level_split(blocks_of(variant).layers, variant, even_layers(question_.graph(), variant.chunks()));
    if (!layers) return std::nullopt;
    Strategy level = variant;
    level.layers_per_stage = std::move(*layers);
    if (space.allows && !space.allows(level)) return std::nullopt;
    if (first_violation(level, question_.training(), question_.facts(), question_.limits())) return std::nullopt;
    return level;
  }

  /// Whether its placement cannot be worth its time.
  [[nodiscard]] bool is_hopeless(const Strategy& variant, const RankLayersTable& groups) const {
    Strategy unplaced = variant;
    unplaced.recompute = {};
    const StageLayout layout = layout_of(question_, unplaced, groups);
    const StageTable kept(question_.graph(), layout, groups.blocks());
    const StepPricer& pricer = question_.step_pricer();
    const std::size_t q = start_.plan.question;
    const Picoseconds bound = pricer.lower_bound(kept, variant);
    if (bound > longest_step || !(score_of_(bound, Bytes(0), q) < best_score_)) return true;
    const PlanBound least = with_surest_fit({question_, variant, groups, kept}, {bound, Bytes(0)});
    return !(score_of_(least.step, least.peak_memory, q) < best_score_);
  }

  void consider(const Strategy& variant) {
    const RankLayersTable& groups = blocks_of(variant).table;
    const bool is_placed_on_split =
        variant.recompute.mode == RecomputeMode::placed && variant.split == StageSplit::even;
    if (is_placed_on_split && is_hopeless(variant, groups)) return;
    const StageLayout layout = layout_of(question_, variant, groups);
    const StageTable stages(question_.graph(), layout, groups.blocks());
    const Picoseconds bound = question_.step_pricer().lower_bound(stages, variant);
    const std::size_t q = start_.plan.question;
    if (bound > longest_step || !(score_of_(bound, Bytes(0), q) < best_score_)) return;
    const Bytes peak = peak_memory(question_, stages, variant);
    if (peak > question_.capacity() || !fits_host(question_, stages, variant)) return;
    if (!(score_of_(bound, peak, q) < best_score_)) return;
    ++best_.priced;
    const StepPricer& pricer = question_.step_pricer();
    if (!(score_of_(pricer.total(stages, variant, StepPricer::Sweep::left_out), peak, q) < best_score_)) return;
    const Picoseconds step = pricer.total(stages, variant);
    const Score score = score_of_(step, peak, q);
    if (step > longest_step || !(score < best_score_)) return;
    best_score_ = score;
    best_.plan = start_.plan;
    best_.plan->strategy = variant;
    best_.plan->step_time = step;
    best_.plan->peak_memory = peak;
    best_.plan->score = score;
  }

  const Start& start_;
  const Question& question_;
  KnownPrograms& known_;
  const Scoring& score_of_;
  Score best_score_;
  std::optional<PricedBlocks> own_;    ///< of the plan that is varied
  std::optional<PricedBlocks> other_;  ///< of the variant before, where they are not
  BestVariant best_;
};

std::vector<Start> starts_of(const BestOfShapes& shapes) {
  std::vector<Start> starts;
  for (const RankedStrategy& plan : shapes.ranked()) {
    if (starts.size() == shapes_on_same_blocks) break;
    const VariantAxes axes = starts.size() < shapes_on_all_axes ? VariantAxes::all : VariantAxes::of_same_blocks;
    starts.push_back({plan, axes, VariantValues::beyond_space});
  }
  return starts;
}

bool holds(const std::vector<RankedStrategy>& plans, const RankedStrategy& plan) {
  return std::any_of(plans.begin(), plans.end(),
                     [&](const RankedStrategy& other) { return is_same_plan(other, plan); });
}

}  // namespace

void BestOfShapes::consider(const RankedStrategy& plan) {
  Strategy s = plan.strategy;
  s.expert_tensor_parallel = 1;
  const Shape shape{plan.question, s.pipeline_stages, s.data_parallel, values_priced_in<PricedIn::blocks>(s)};
  const auto [place, is_new] = best_.try_emplace(shape, plan);
  if (!is_new && before(plan, place->second)) place->second = plan;
}

std::vector<RankedStrategy> BestOfShapes::ranked() const {
  std::vector<RankedStrategy> plans;
  for (const auto& [shape, plan] : best_) plans.push_back(plan);
  std::sort(plans.begin(), plans.end(), before);
  return plans;
}

Refined refined(const BestOfShapes& shapes, const SearchSpace& space, const Scoring& score_of, const Score& worst,
                const SimulationContext& context) {
  Refined result;
  std::vector<Start> starts = starts_of(shapes);
  for (int round = 0; round < most_rounds && !starts.empty() && result.is_complete; ++round) {
    std::vector<BestVariant> found(starts.size());
    result.is_complete = parallel_for(
        starts.size(), context.threads,
        [&](std::size_t i) {
          const std::size_t q = starts[i].plan.question;
          found[i] =
              VariantSearch(starts[i], context.questions[q], context.blocks[q].programs(), score_of, worst).best(space);
        },
        context.stop);
    std::vector<Start> next;
    for (BestVariant& one : found) {
      result.priced += one.priced;
      if (!one.plan || holds(result.plans, *one.plan)) continue;
      next.push_back({*one.plan});
      result.plans.push_back(std::move(*one.plan));
    }
    starts = std::move(next);
  }
  return result;
}

}  // namespace plumbline
