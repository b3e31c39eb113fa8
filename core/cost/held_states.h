#pragma once
/// \file held_states.h: bytes that one pipeline rank holds apart from its micro-batches.
///
/// Answers states, communication buffers and gathered units, which depend on recompute by `recast_share` alone, and
/// their sum with the peak of what micro-batches hold (peak_load.h). A search combines many of the one with many of the
/// other. Model, source, what is not modelled and what it is checked against: see stage_memory.h, which answers for one
/// plan.

#include "core/cost/stage_cost.h"
#include "core/plan/estimate.h"
#include "core/program/peak_load.h"
#include "core/training/training.h"

namespace plumbline {

/// Tensors that a step makes anew, which are not there before its first backward has run.
struct LateTensors {
  Bytes gradients{0};
  Bytes weights{0};  ///< 16-bit copies of them
  [[nodiscard]] Bytes total() const { return gradients + weights; }
};

/// All but activations, their working sets and what the allocator loses.
struct HeldStates {
  MemoryBreakdown memory;
  Bytes total{0};             ///< of `memory`
  Bytes live{0};              ///< of it, tensors
  Bytes whole_parameters{0};  ///< gathered while weights are read
  Bytes whole_gradients{0};   ///< while weight gradients are made
  Bytes packed_gradients{0};  ///< once a step: parts that tensor-parallel ranks sum
  LateTensors late;           ///< counted in `memory`, `total` and `live`
  Bytes matrices{0};          ///< once a step: what an optimizer that needs whole matrices gathers
  Bytes secondary{0};         ///< while micro-batches are in flight: secondary shards of parameters
};

/// The share of weights that recompute casts to 16 bits again: under torch.autocast that of the layers which are
/// recomputed as a whole, otherwise 0. In a step of one micro-batch these copies are LateTensors.
[[nodiscard]] double recast_share(const Recompute& recompute, const StackFeatures& features,
                                  const PrecisionFormats& formats);

/// `load`: `rank_load` of the rank.
[[nodiscard]] MemoryBreakdown with_load(const HeldStates& held, const PeakLoads& load, const StackCalibration& stack);
/// Its device_total().
[[nodiscard]] Bytes total_with_load(const HeldStates& held, const PeakLoads& load, const StackCalibration& stack);

/// Of one rank.
class RankStates {
 public:
  /// `stage` must outlive it.
  RankStates(const StageSizes& stage, const Strategy& family);

  [[nodiscard]] HeldStates of(const Strategy& strategy, const PrecisionFormats& formats, Optimizer optimizer,
                              const StackSizes& stack) const;

 private:
  const StageSizes* stage_;
  RankParameters held_;  ///< padded
  WholeUnits most_;
  std::int64_t groups_;  ///< of more than one rank
};

}  // namespace plumbline
