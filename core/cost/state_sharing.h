#pragma once
/// \file state_sharing.h: what ranks send to share their states: parameters, gradients and updated weights.
///
/// Answers bytes of one rank, which ranks divide its states among them and which hold another copy, and how its
/// gradients leave it. No clock: what that takes is step_time.h's, which says model and source and what it was checked
/// against.

#include <array>

#include "core/cost/rank_parameters.h"
#include "core/cost/stack_sizes.h"
#include "core/cost/stage_cost.h"
#include "core/plan/axis.h"
#include "core/plan/rank_group.h"

namespace plumbline {

/// What one rank sends to share its states, in bytes or in the time that it takes alone.
template <class Amount>
struct Shared {
  Amount gather{0};           ///< per forward: sharded parameters
  Amount regather{0};         ///< per backward: those that recompute has let go of, once more
  Amount scatter{0};          ///< per micro-batch: gradients
  Amount reduction{0};        ///< per step: gradients that are not scattered per micro-batch
  Amount update{0};           ///< per step: weights that the optimizer has updated
  Amount gather_backward{0};  ///< per backward: sharded parameters, from the ranks that then hold them
};
using SharingBytes = Shared<Bytes>;
using SharingTimes = Shared<Picoseconds>;
/// In a backward.
[[nodiscard]] inline Picoseconds gathered_for_backward(const SharingTimes& t) { return t.gather_backward + t.regather; }

/// How gradients leave a rank in its last backward.
struct ReductionRule {
  double late_share = 0;    ///< cannot start before the backward has ended
  double bucket_share = 0;  ///< one bucket over the rank's gradients
  /// The same of gradients that are scattered after every micro-batch; 0: unit by unit.
  double scatter_bucket_share = 0;
};

/// Parameters that the same ranks hold: those that divide their states, and those that hold another copy.
struct StateSharing {
  RankGroup shard;
  RankGroup secondary;  ///< over which a backward gathers; of as many ranks as `shard`: that
  RankGroup replicate;
  Axis axis = Axis::gradient;
  std::int64_t parameters = 0;
  std::int64_t trained = 0;
};
/// Dense parameters and experts.
[[nodiscard]] std::array<StateSharing, 2> state_sharings(const RankParameters& held, const Strategy& strategy);

[[nodiscard]] SharingBytes sharing_bytes(const RankParameters& parameters, const Strategy& strategy,
                                         const PrecisionFormats& formats);
/// Of the two copies of a tied embedding, one end of the pipeline to the other. `last`: the last rank.
[[nodiscard]] Bytes tied_bytes(const StageSizes& last, const Strategy& strategy, const PrecisionFormats& formats);
/// Gradients that are collected before they are scattered; FSDP scatters each unit's.
[[nodiscard]] Bytes scatter_bucket(const StackSizes& stack);
[[nodiscard]] ReductionRule reduction_rule(const StageSizes& stage, const StackSizes& stack,
                                           const PrecisionFormats& formats);

}  // namespace plumbline
