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
#include "core/program/shared_states.h"

namespace plumbline {

/// Parameters that the same ranks hold: those that divide their states, and those that hold another copy.
struct StateSharing {
  RankGroup shard;
  RankGroup secondary;  ///< over which a backward gathers; of as many ranks as `shard`: that
  RankGroup replicate;
  Axis axis = Axis::gradient;
  std::int64_t parameters = 0;
  std::int64_t trained = 0;
  std::int64_t trained_matrices = 0;  ///< of it, weight matrices inside the layers; 0 beside frozen ones
};
/// Dense parameters and experts.
[[nodiscard]] std::array<StateSharing, 2> state_sharings(const RankParameters& held, const Strategy& strategy);

/// What the optimizer has updated, as ranks that share states gather it: parameters that are fp8 themselves in 8 bits,
/// where one scale serves a whole tensor; in MX formats what is gathered has 16 bits and is cast behind that.
/// Source: Megatron-Core, param_and_grad_buffer.py (uint8 buffers of is_float8tensor; copies of
/// reuse_grad_buf_for_mxfp8_param_ag); NeMo's user guide, communication overlap ("reducing the all-gather overhead").
[[nodiscard]] Bytes updated_weights(const StateSharing& sharing, const PrecisionFormats& formats,
                                    const StackFeatures& features);

[[nodiscard]] SharingBytes sharing_bytes(const RankParameters& parameters, const Strategy& strategy,
                                         const PrecisionFormats& formats, const StackFeatures& features);
/// Of the two copies of a tied embedding, one end of the pipeline to the other. `last`: the last rank.
[[nodiscard]] Bytes tied_bytes(const StageSizes& last, const Strategy& strategy, const PrecisionFormats& formats);
/// Gradients that are collected before they are scattered; FSDP scatters each unit's.
[[nodiscard]] Bytes scatter_bucket(const StackSizes& stack);
[[nodiscard]] ReductionRule reduction_rule(const StageSizes& stage, const Strategy& strategy, const StackSizes& stack,
                                           const PrecisionFormats& formats);

}  // namespace plumbline
