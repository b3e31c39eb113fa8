#pragma once
/// \file block_passes.h: the passes over a block, lowered one by one.
///
/// Model, source and what it was checked against: block_program.h.

#include "core/program/block_emitter.h"
#include "core/program/block_facts.h"

namespace plumbline {

/// `pass`: forward or recompute. Updates `values`.
void lower_forward(const BlockFacts& facts, BlockEmitter& emit, BlockValues& values, BlockPass pass);

/// What a backward leaves.
struct BackwardResult {
  std::vector<std::int32_t> input_gradients;  ///< by input of the block
  std::vector<DeferredWork> deferred;         ///< none of a whole backward
};
/// `pass`: backward or backward_input. `output_gradients`: by output of the block.
[[nodiscard]] BackwardResult lower_backward(const BlockFacts& facts, BlockEmitter& emit, const BlockValues& values,
                                            const std::vector<std::int32_t>& output_gradients, BlockPass pass);

/// `keep_for_weights` and `weight`, behind backward_input. Updates `values`.
void lower_weights(const BlockFacts& facts, BlockEmitter& emit, BlockValues& values, BackwardResult backward);

}  // namespace plumbline
