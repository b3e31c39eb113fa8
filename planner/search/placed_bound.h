#pragma once
/// \file placed_bound.h: what a plan whose recompute is placed takes and holds at least, before it is placed.
///
/// Answers picoseconds and bytes. Model: each rank replays at least what the relaxation of its choice says
/// (RecomputePlacer::least_replay), whatever other ranks do, on whichever of its chunks. A step then takes at least
/// what its busiest rank does one after another, and what the closed form without its sweep adds once per step. A
/// placement that surely fits is taken before one that may not, whatever the time, so a plan's place in a ranking is
/// bounded by the replay of those that surely fit where there are any. Source: planner/checkpointing/placement.h,
/// layer_choice.h. Not modelled: replay next to states that are sent for every micro-batch, on ranks of several chunks,
/// where it may hide what is sent: there each bound stands by itself. Checked against:
/// tests/property/placed_bound_test.cpp; tests/property/search_brute_force_test.cpp.

#include <optional>

#include "core/cost/stage_cost.h"
#include "planner/checkpointing/rank_layers.h"
#include "planner/question/question.h"
#include "planner/search/objective.h"

namespace plumbline {

/// What a plan takes and holds at least.
struct PlanBound {
  Picoseconds step{0};
  Bytes peak_memory{0};
};

/// A price is rounded to picoseconds term by term: far less than a part in a million of it.
[[nodiscard]] constexpr Picoseconds without_rounding(Picoseconds time) {
  constexpr std::int64_t most_rounding = 1'000'000;
  return time - time / most_rounding;
}

/// A plan to bound. `layers`: what its blocks choose among; `kept`: its stages with nothing recomputed. All outlive it.
struct UnplacedPlan {
  const Question& question;
  const Strategy& strategy;
  const RankLayersTable& layers;
  const StageTable& kept;
  Restored restored = Restored::counted;  ///< whether the layers say what they restore
};
/// Of plans that fit so surely; nothing when some rank cannot.
[[nodiscard]] std::optional<Picoseconds> least_placed_step(const UnplacedPlan& plan, MemoryFit fit);
/// `known` with the least replay of plans that fit: of time and of memory, whichever a placement is chosen for.
[[nodiscard]] PlanBound with_least_replay(const UnplacedPlan& plan, PlanBound known);
/// The same of plans that fit as surely as they can: of the place in a ranking that asks first how surely a plan fits.
[[nodiscard]] PlanBound with_surest_fit(const UnplacedPlan& plan, PlanBound known);

}  // namespace plumbline
