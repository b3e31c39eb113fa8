#pragma once
/// \file once_per_step.h: what sharing states adds to a rank once per step, against a step of equal micro-batches.
///
/// Answers picoseconds, chunk by chunk of a rank, as the order of its schedule takes them (pipeline_time.h).
/// Model: updated weights are gathered alongside the first forward of each chunk, but for the first unit of all, or
/// before all of them where the stack does not overlap gathers (CollectiveOverlap); or a chunk's alongside the first
/// forward of the chunk before, from which on its rank goes on with other passes (UpdateWaits); gradients are reduced
/// bucket by bucket alongside the last backward of each chunk, the last chunk first, or a chunk in one piece behind it
/// (GradientBucketsOf), and what cannot start before all of them have ended, after them; or chunk by chunk, each waited
/// for when its last backward has ended (ShardedGradients). Overlap: overlap.h; buckets:
/// core/program/gradient_buckets.h. Source: Megatron-core's distributed optimizer and PyTorch's DistributedDataParallel
/// (docs/calibrations.md). Not modelled: chunks whose last backwards do not follow each other from the last chunk to
/// the first. Checked against: tests/property/simulation_agreement_test.cpp (the same terms simulated).

#include <vector>

#include "core/cost/pipeline_time.h"
#include "core/cost/stack_features.h"
#include "core/cost/step_time.h"
#include "core/program/lower.h"

namespace plumbline {

/// A stage as a part of its rank.
struct StageShare {
  const StageCost* stage;
  const RankTimes* times;
  SharingTimes shared;  ///< of the rank's communication to share states, this stage's
};
/// What a stage takes of the rank's communication to share states.
[[nodiscard]] SharingTimes sharing_of_stage(const SharingTimes& of_rank, const StageSizes& stage,
                                            const StageSizes& rank);

/// Of the communication of one pass of a stage, what one unit takes.
[[nodiscard]] double unit_share(const StageSizes& stage);
/// What of a stage's gathered parameters nothing hides: the first unit; without prefetch all.
[[nodiscard]] Picoseconds first_units(Picoseconds gather, const StageSizes& stage, ParameterPrefetch prefetch);
/// What of a stage's scattered gradients nothing is left to hide: a unit or a bucket. `of_rank`: the rank's.
[[nodiscard]] Picoseconds last_units(Picoseconds scatter, Picoseconds of_rank, const StageSizes& stage,
                                     const ReductionRule& rule);

[[nodiscard]] inline UpdateGathers update_gathers(const StackFeatures& features) {
  if (features.overlap != CollectiveOverlap::both) return UpdateGathers::in_order;
  return features.update_waits == UpdateWaits::own_chunk ? UpdateGathers::by_chunk : UpdateGathers::ahead;
}

struct RankSharing {
  SharingTimes of_rank;
  ReductionRule rule;
  double slowdown = 0;           ///< of compute and communication alongside each other
  bool splits_backward = false;  ///< reductions run alongside weight gradients alone
  ParameterPrefetch prefetch = ParameterPrefetch::on;
  bool waits = false;           ///< a sharded backward ends when its gradients are reduced
  bool in_pipeline = false;     ///< a forward may follow a forward
  bool reduces_chunks = false;  ///< gradients that ranks divide are reduced when their chunk's last backward has ended
  UpdateGathers updates = UpdateGathers::ahead;
};
struct OncePerStep {
  std::vector<OnceTimes> of_chunk;
  Picoseconds start{0};  ///< before the first forward
  Picoseconds after{0};  ///< after the last backward
};
[[nodiscard]] OncePerStep once_per_step(const std::vector<StageShare>& chunks, const RankSharing& rank);

}  // namespace plumbline
