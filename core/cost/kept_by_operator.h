#pragma once
/// \file kept_by_operator.h: what selective checkpointing by operator keeps of a layer, and what it runs again.
///
/// Answers bytes per micro-batch and rank, and a share per operator. Model: the outputs of attention and of every
/// second matrix product are kept, in order of execution and a fused projection counted output by output; everything
/// else is replayed from the layer's input, products in fp4 too: PyTorch's list of operators worth keeping has
/// aten._scaled_mm but not the aten._scaled_mm_v2 that they call (torch/_functorch/partitioners.py of 2.15; torchao's
/// nvfp4_linear.py).
/// Source: torchtitan's policy for selective activation checkpointing by operator (models/llama/parallelize_llama.py;
/// arXiv:2410.06511, section 2.2), over torch.utils.checkpoint's selective contexts.
/// Not modelled: outputs of collectives that it keeps as well; products of experts, which it replays.
/// Checked against: tests/reference/selective_by_operator_test.cpp (a Llama layer, worked by hand).

#include <vector>

#include "core/cost/shard.h"

namespace plumbline {

struct KeptByOperator {
  Bytes bytes{0};             ///< beside the layer's inputs
  std::vector<double> share;  ///< by OpId: 1 where the operator is kept, 0 where it runs again
};

[[nodiscard]] KeptByOperator kept_by_operator(const Block& block, const Shard& shard);

}  // namespace plumbline
