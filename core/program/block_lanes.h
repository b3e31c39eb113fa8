#pragma once
/// \file block_lanes.h: on which lane an instruction of a block runs, and which collective it waits for.
///
/// Model: sums and gathers of tensor-parallel ranks are the tensor lane's, everything else the compute lane's. A
/// collective begins behind all that the compute lane was given before it. Instructions that use or release a buffer of
/// a collective wait for it, and a pass ends when its collectives have; so a gradient is summed over ranks alongside
/// the weight gradients behind it, where no slice of the sum follows at once. Rows of experts and keys of context
/// parallelism stay on the compute lane: what follows reads them.
/// Source: Megatron-LM, core/tensor_parallel/layers.py (input gradients are summed alongside weight gradients).
/// Not modelled: gathered rows ahead of the kernel that reads them, and reduce-scatters alongside weight gradients,
/// which would hold two whole tensors at once. Checked against: tests/unit/core/program/block_lanes_test.cpp;
/// tests/runtime/execution/lanes_threads_test.cpp (the same bits, however late; a wait that is left out shows).

#include "core/program/block_program.h"
#include "core/program/program.h"

namespace plumbline {

[[nodiscard]] constexpr Stream lane_of(const Instruction& i) {
  return i.kind == InstructionKind::collective && i.axis == Axis::tensor ? Stream::tensor : Stream::compute;
}

/// Writes Instruction::waits_for of every pass. Linear in the operands.
void add_waits(BlockProgram& program);

}  // namespace plumbline
