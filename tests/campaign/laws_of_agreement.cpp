#include "core/plan/pipeline_schedule.h"
#include "core/plan/stage_split.h"
#include "planner/explain/changes.h"
#include "planner/pricing/peak_memory.h"
#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"
#include "planner/search/placed_bound.h"
#include "planner/search/placed_plans.h"
#include "planner/search/search.h"
#include "tests/campaign/law_questions.h"
#include "tests/closed_form_bounds.h"
#include "tests/search_audit.h"

namespace plumbline {
namespace {

constexpr std::int64_t most_simulated_chunks = 3000;
constexpr std::int64_t most_searched_devices = 32;

bool is_short(const Strategy& s) {
  return s.pipeline_stages * s.micro_batches * s.virtual_stages <= most_simulated_chunks;
}

void simulated_memory(const Subject& s, Finding& f) {
  if (!is_short(s.strategy())) return;
  const Simulation simulated = plumbline::simulated(s.question, s.strategy()).simulation;
  for (std::size_t rank = 0; rank < simulated.memory.size(); ++rank)
    for (std::size_t c = 0; c < memory_class_count; ++c)
      f.expect_equal(simulated.memory[rank].memory.by_class[c], s.prediction().stage_memory[rank].by_class[c],
                     to_text(static_cast<MemoryClass>(c)));
}

void simulated_causes(const Subject& s, Finding& f) {
  if (!is_short(s.strategy())) return;
  const Simulation simulated = plumbline::simulated(s.question, s.strategy()).simulation;
  f.expect_equal(simulated.time.total(), simulated.step(), "causes and step of the simulation");
  for (const TimeCause cause :
       {TimeCause::recompute, TimeCause::offload, TimeCause::tensor_parallel, TimeCause::context_parallel,
        TimeCause::expert_parallel, TimeCause::optimizer, TimeCause::step_overhead})
    f.expect_near(to_seconds(simulated.time[cause]).value(), to_seconds(s.prediction().time[cause]).value(),
                  to_text(cause));
}

void simulated_step_agrees(const Subject& s, Finding& f) {
  if (!is_short(s.strategy())) return;
  const Simulation simulated = plumbline::simulated(s.question, s.strategy()).simulation;
  f.expect_near(to_seconds(simulated.step()).value(), to_seconds(s.step()).value(), "simulated step and closed form",
                documented_bound(s.strategy()));
}

void bounds_are_below(const Subject& s, Finding& f) {
  const std::vector<BlockCost> blocks = block_costs(s.question, s.strategy());
  const StageLayout layout = layout_of(s.question, s.strategy(), blocks);
  const StageTable stages(s.question.graph(), layout, blocks);
  const StepPricer& pricer = s.question.step_pricer();
  f.expect_at_most(pricer.lower_bound(stages, s.strategy()), s.step(), "bound of the search and step");
  f.expect_at_most(pricer.total(stages, s.strategy(), StepPricer::Sweep::left_out), s.step(),
                   "bound of the search without a sweep and step");
  f.expect_equal(pricer.total(stages, s.strategy()), s.step(), "step of the search and of estimate");
  f.expect_equal(peak_memory(s.question, stages, s.strategy()), weighed_peak(s.question, s.plan), "peak of the search");
}

/// Before its blocks' choices are known, a search bounds a placement by the replay that no rank can do without.
void placements_are_bounded(const Subject& s, Finding& f) {
  if (s.strategy().recompute.mode != RecomputeMode::placed || !s.plan.verdict.fits) return;
  Strategy kept = s.strategy();
  kept.recompute = {};
  const std::vector<BlockCost> blocks = block_costs(s.question, kept);
  const StageLayout layout = layout_of(s.question, kept, blocks);
  KnownPrograms known;
  PlacedPlans placed(s.question, known);
  placed.take({kept});
  const StageTable stages(s.question.graph(), layout, blocks);
  const auto bounded = [&](const RankLayersTable& layers, Restored restored) {
    const auto bound = least_placed_step({s.question, s.strategy(), layers, stages, restored}, MemoryFit::uncertain);
    if (bound) f.expect_at_most(*bound, s.step(), "bound of a placement and step");
  };
  bounded(placed.bare(0, blocks), Restored::ignored);
  bounded(placed.layers(0, blocks), Restored::counted);
}

/// What flags leave open is filled in as the strategy was drawn.
void flags_complete_to_the_strategy(const Subject& s, Finding& f) {
  PartialStrategy partial{s.strategy(), false, true, true, true};
  partial.strategy.data_parallel = 1;
  partial.strategy.micro_batches = 1;
  f.expect(completed(partial, s.question) == s.strategy(), "data parallelism and micro-batches follow");
}

/// Strategies that nobody checked: each is refused with a sentence or priced.
void careless_strategies_are_refused(const Subject& s, Finding& f) {
  const Strategy careless = careless_strategy(s.question, s.draw);
  const auto violation = first_violation(careless, s.question.training(), s.question.facts(), s.question.limits());
  if (violation) {
    f.expect(!violation->what.empty() && violation->what.size() < 400, "a refusal says why");
    return;
  }
  f.expect(step_of(evaluate(s.question, careless)) > Picoseconds(0), "what is legal is priced");
}

/// The part of the space around a strategy: two values on every free axis.
SearchSpace space_around(const Strategy& s) {
  SearchSpace space;
  space.micro_batch = {s.micro_batch, 1};
  space.schedule = {s.schedule, Schedule::one_f_one_b};
  space.recompute = {s.recompute, Recompute{}};
  if (s.zero_stage > 0) space.shard_group = {s.shard_group};
  if (s.zero_stage == 3) space.secondary_shard_group = {s.secondary_shard_group};
  space.expert_tensor_parallel = {s.expert_tensor_parallel};
  space.flash_attention = {s.flash_attention};
  return space;
}

bool is_searched(const Subject& s) {
  const Strategy& strategy = s.strategy();
  return s.question.devices() <= most_searched_devices && !chooses(strategy) && strategy.layers_per_stage.empty() &&
         strategy.micro_batches * strategy.pipeline_stages <= 256 &&
         (strategy.virtual_stages == 1 || splits_evenly(s.question.graph(), strategy.chunks()));
}

bool surely_fits(const Plan& plan) { return plan.verdict.fits && !plan.verdict.near_edge; }

void search_is_not_beaten(const Subject& s, Finding& f) {
  if (!is_searched(s)) return;
  const SearchSpace space = space_around(s.strategy());
  SearchOptions options;
  options.finalists = Finalists::closed_form;
  options.top = 3;
  options.threads = 1;
  const SearchResult found = search({s.question}, space, options);
  f.expect_equal(accounted(found.audit), found.audit.total, "plans that are accounted for");
  f.expect(!s.plan.verdict.fits || !found.best.empty(), "a plan that fits is found");
  if (found.best.empty()) return;
  const bool may_not_fit = found.best.front().may_not_fit;
  f.expect(!surely_fits(s.plan) || !may_not_fit, "the best fits as surely as a random one");
  if (s.plan.verdict.fits && may_not_fit == s.plan.verdict.near_edge)
    f.expect_at_most(found.best.front().step_time, s.step(), "the best step and a random one");
  for (const RankedStrategy& best : found.best) {
    const auto priced = plan_of(s, best.strategy);
    f.expect(priced.has_value(), "what is found is legal");
    if (!priced) return;
    f.expect_equal(best.step_time, step_of(*priced), "step of search and estimate");
    f.expect_equal(best.peak_memory, weighed_peak(s.question, *priced), "peak of search and estimate");
    f.expect(priced->verdict.fits, "what is found fits");
    f.expect_equal(best.may_not_fit, priced->verdict.near_edge, "doubt of search and estimate");
  }
}

void changes_keep_their_promise(const Subject& s, Finding& f) {
  if (s.question.devices() > 64 || chooses(s.strategy())) return;
  for (const Change& change : single_steps(s.question, s.strategy())) {
    const auto priced = plan_of(s, change.strategy);
    f.expect(priced.has_value(), "a change that explain names is legal");
    if (!priced) return;
    f.expect_equal(step_of(change.plan), step_of(*priced), "step after a change");
    f.expect_equal(change.plan.prediction.peak_memory, priced->prediction.peak_memory, "peak after a change");
    f.expect(!change.steps.empty(), "a change is named");
  }
}

void one_micro_batch_needs_no_schedule(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  if (other.schedule != Schedule::one_f_one_b || other.micro_batches != 1 || chooses(other)) return;
  other.schedule = Schedule::gpipe;
  if (const auto gpipe = plan_of(s, other)) {
    f.expect_equal(step_of(*gpipe), s.step(), "step of one micro-batch");
    f.expect_equal(gpipe->prediction.peak_memory, s.prediction().peak_memory, "peak of one micro-batch");
  }
}

void layers_by_hand_are_the_same(const Subject& s, Finding& f) {
  Strategy other = s.strategy();
  if (!other.layers_per_stage.empty() || other.split != StageSplit::even || other.pipeline_stages == 1) return;
  const Divisibility& facts = s.question.facts();
  for (const std::int64_t layers :
       layers_per_chunk(facts.layers, other.chunks(), facts.starts_with_input, facts.ends_with_output))
    other.layers_per_stage.push_back(static_cast<std::int32_t>(layers));
  const auto by_hand = plan_of(s, other);
  if (!by_hand) return;
  f.expect_equal(step_of(*by_hand), s.step(), "step of the even split written out");
  f.expect_equal(by_hand->prediction.peak_memory, s.prediction().peak_memory, "peak of the even split written out");
}

void placement_is_never_worse(const Subject& s, Finding& f) {
  Strategy placed = s.strategy();
  if (placed.recompute.mode == RecomputeMode::placed || placed.split == StageSplit::balanced) return;
  if (s.strategy().recompute.mode == RecomputeMode::offloaded) return;  // recomputes nothing
  placed.recompute = {RecomputeMode::placed, 1};
  const auto plan = plan_of(s, placed);
  if (!plan) return;
  f.expect(plan->verdict.fits || !s.plan.verdict.fits, "what fits with a listed mode fits with a placement");
  f.expect(surely_fits(*plan) || !surely_fits(s.plan), "what surely fits with a listed mode does with a placement");
  if (s.plan.verdict.fits && surely_fits(*plan) == surely_fits(s.plan))
    f.expect_at_most(to_seconds(step_of(*plan)).value(), to_seconds(s.step()).value() * (1 + 1. / 2000), "step");
}

void balance_is_never_worse(const Subject& s, Finding& f) {
  Strategy even = s.strategy();
  if (even.split != StageSplit::balanced) return;
  even.split = StageSplit::even;
  const auto plan = plan_of(s, even);
  if (!plan) return;
  f.expect(s.plan.verdict.fits || !plan->verdict.fits, "what fits evenly fits when balanced");
  // An even split that does not fit has no step to be held against.
  if (s.plan.verdict.fits && plan->verdict.fits) f.expect_at_most(s.step(), step_of(*plan), "balanced and even step");
}

}  // namespace

Laws laws_of_agreement() {
  return {
      {"simulated-memory", "The simulated program holds what the closed form says, class by class, to the byte.", 8,
       simulated_memory},
      {"simulated-causes",
       "Simulation and closed form give the same time to every cause but bubble, compute and data "
       "parallelism.",
       8, simulated_causes},
      {"simulated-step", "Simulation and closed form agree on the step within what docs/simulate.md states.", 8,
       simulated_step_agrees},
      {"lower-bound", "No bound of the search is above the price; its step and its peak are the estimate's.", 4,
       bounds_are_below},
      {"placed-bound", "The search's bound of a placement of recompute is never above its price.", 4,
       placements_are_bounded},
      {"completion", "Flags that leave data parallelism and micro-batches open mean the same strategy.", 1,
       flags_complete_to_the_strategy},
      {"refusal", "Any strategy is refused with a sentence or priced; nothing throws.", 1,
       careless_strategies_are_refused},
      {"search",
       "A search is never beaten by a legal plan that fits as surely, and says of what it finds what estimate says.",
       64, search_is_not_beaten},
      {"changes", "What explain promises of a change is what estimate says of it.", 128, changes_keep_their_promise},
      {"one-micro-batch", "GPipe and 1F1B of one micro-batch are the same.", 1, one_micro_batch_needs_no_schedule},
      {"layers-by-hand", "The even split written out by hand is priced the same.", 16, layers_by_hand_are_the_same},
      {"placed-recompute", "Placed recompute is never worse than a listed mode: in what fits, how surely, and in time.",
       64, placement_is_never_worse},
      {"balanced-split", "A balanced split fits where the even one fits, and is never slower than it.", 1,
       balance_is_never_worse},
  };
}

}  // namespace plumbline
