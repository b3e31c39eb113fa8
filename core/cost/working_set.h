#pragma once
/// \file working_set.h: what lives alongside saved activations while a block runs, and what waits between split
/// backwards.
///
/// Answers bytes per rank, for one micro-batch. Model: a fold over the block's instructions (block_program.h), by
/// memory class. Source: PyTorch's autograd (reference counts). Not modelled: scratch of kernels; fused or in-place
/// operators; inputs of weight gradients in fp8.
/// Checked against: tests/runtime/execution (strategies, experts): bytes that executed operators bind, exact.

#include "core/program/block_program.h"

namespace plumbline {

struct WorkingSets {
  Bytes forward{0};
  Bytes backward{0};        ///< with the replay before it
  Bytes backward_input{0};  ///< the same of a split backward
  Bytes weight{0};          ///< weight gradients alone
  // From a split backward's input gradients to its weight gradients:
  Bytes saved_for_weight{0};  ///< of what the forward saved
  Bytes deferred{0};          ///< alongside it
  bool needs_logits = false;  ///< whether logits, which are their own gradients then, are held as well
};

/// Of a block that was lowered in this form. `whole`: without what only split backwards have.
[[nodiscard]] WorkingSets working_sets(const BlockProgram& program, BackwardForm form);

}  // namespace plumbline
