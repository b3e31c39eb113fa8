#pragma once
/// \file buffer_slots.h: the buffers of one rank, found by what they are for.
///
/// Answers: indices into RankProgram::buffers; `no_buffer` where nothing is held.
/// Model: states and receive buffers live through the step; each micro-batch has saved activations and logits of its
/// own for every segment; the working set, gathered parameters and unreduced gradients are slots used again and again.
/// Source: core/cost/stage_memory.h counts the same classes. Not modelled: addresses, alignment.
/// Checked against: tests/property/simulation_agreement_test.cpp (peaks of the closed form).

#include "core/program/passes.h"

namespace plumbline::passes {

inline constexpr std::int32_t no_buffer = -1;

/// Of saved activations and logits, those of micro-batch 0: the others' follow.
struct SegmentSlots {
  std::int32_t saved = no_buffer;                 ///< without what is offloaded, or kept for weight gradients
  std::int32_t for_weight = no_buffer;            ///< kept from the forward to the weight gradients
  std::int32_t deferred = no_buffer;              ///< from input to weight gradients
  std::int32_t offloaded = no_buffer;             ///< on the device before it is copied out and after it is copied back
  std::int32_t offloaded_for_weight = no_buffer;  ///< the same of what is kept for weight gradients
  std::int32_t logits = no_buffer;
  std::int32_t working_forward = no_buffer;
  std::int32_t replayed_ahead = no_buffer;  ///< by a replay ahead of others, until the backward
  std::int32_t working_replay = no_buffer;
  std::int32_t working_backward = no_buffer;
  std::int32_t working_input = no_buffer;
  std::int32_t working_weight = no_buffer;
};

struct RankSlots {
  std::int32_t weights = no_buffer;
  std::int32_t gradients = no_buffer;
  std::int32_t optimizer_state = no_buffer;
  std::int32_t fetched_states = no_buffer;
  std::int32_t received_activation = no_buffer;
  std::int32_t received_gradient = no_buffer;
  std::int32_t gathered_parameters = no_buffer;
  std::int32_t gathered_gradients = no_buffer;
  std::int32_t secondary_shards = no_buffer;
  std::int32_t packed_partial = no_buffer;
  std::int32_t gathered_matrices = no_buffer;
  std::vector<std::int32_t> late;                   ///< states that the step makes anew
  std::vector<std::vector<SegmentSlots>> segments;  ///< by chunk
  std::vector<std::int32_t> whole_gradients;        ///< by chunk: of all its micro-batches
  // By chunk, of micro-batch 0: between it and the next chunk, where that is the next stage.
  std::vector<std::int32_t> transferred_activation;
  std::vector<std::int32_t> transferred_gradient;
};

/// Adds the buffers of a rank to it.
[[nodiscard]] RankSlots make_slots(const RankContext& context, RankProgram& rank);

}  // namespace plumbline::passes
