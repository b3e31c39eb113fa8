#pragma once
/// \file peak_memory.h: the memory of the rank that needs most, of many plans of one family.
///
/// Answers bytes. Model: what a rank holds of states, buffers and gathered units (held_states.h) is the same for every
/// recompute that casts as many weights again (recast_share), what its micro-batches hold (stage_memory.h) for every
/// way to share states; a search bounds every pair of the two, so each is worked out once. In a mixed cluster a rank
/// fills its own device: as Question::on_smallest says it. Source and limits: see core/cost/stage_memory.h. Checked
/// against: tests/unit/planner/pricing/peak_memory_test.cpp.

#include <optional>
#include <span>
#include <vector>

#include "core/cost/held_states.h"
#include "planner/question/question.h"

namespace plumbline {

/// What ranks hold of plans that differ in how states are shared (PricedIn::sharing) and recompute only, but for their
/// micro-batches; recomputes that cast as many weights again.
class StatesOfPlans {
 public:
  /// `sharing`: one plan for every way to share states.
  StatesOfPlans(const Question& question, std::vector<Strategy> sharing);
  [[nodiscard]] const std::vector<Strategy>& sharing() const { return sharing_; }
  /// Of one pipeline rank, in the order of `sharing`; worked out once. `stage`: its cost with any such recompute.
  [[nodiscard]] std::span<const HeldStates> of(std::int32_t rank, const StageCost& stage);

 private:
  const Question* question_;
  std::vector<Strategy> sharing_;
  std::vector<std::vector<HeldStates>> of_rank_;
};

/// Of plans with one recompute.
class PeakMemory {
 public:
  /// `stages` must outlive it.
  PeakMemory(const Question& question, const StageTable& stages, const Strategy& family);
  /// Of all ways to share states, in their order. What is more than `most` is as much as some ranks hold, more than
  /// `most` too, where that is so of all of them.
  [[nodiscard]] std::vector<Bytes> of(StatesOfPlans& states, Bytes most = Bytes::largest());

 private:
  struct Rank {
    std::int32_t index;
    const StageCost* stage;
    PeakLoads load;
    PeakLoads with_gradients;  ///< of plans whose chunks keep them
  };
  /// The `i`th of those that tell; worked out when it is asked for first, in their order.
  [[nodiscard]] const Rank& rank(std::size_t i);

  const Question* question_;
  const StageTable* stages_;
  Strategy family_;
  std::optional<NumberFormat> kept_;
  std::vector<std::int32_t> informative_;
  std::vector<Rank> ranks_;
};
/// Of one plan.
[[nodiscard]] Bytes peak_memory(const Question& question, const StageTable& stages, const Strategy& strategy);

}  // namespace plumbline
