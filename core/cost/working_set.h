#pragma once
/// \file working_set.h: what lives next to saved activations while a block runs, and what waits between split
/// backwards.
///
/// Answers bytes per rank, for one micro-batch. Model: a fold over the block's instructions (block_program.h), by
/// memory class. Source: PyTorch's autograd (reference counts). Not modelled: scratch of kernels; fused or in-place
/// operators; inputs of weight gradients in fp8.
/// Checked against: tests/runtime/execution (strategies, experts): bytes that executed operators bind, exact.

#include "core/program/block_program.h"
#include "core/program/memory_profile.h"

namespace plumbline {

/// Of a block that was lowered in this form: working sets, and what split backwards keep (`whole`: none of it). What
/// the forward saves and the logits are the caller's, who may price them otherwise than the block's buffers.
[[nodiscard]] MemoryProfile memory_profile(const BlockProgram& program, BackwardForm form, Bytes saved, Bytes logits);

}  // namespace plumbline
