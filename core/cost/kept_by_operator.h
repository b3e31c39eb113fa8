#pragma once
/// \file kept_by_operator.h: what selective checkpointing by operator keeps of a layer, and what it runs again.
///
/// Answers by tensor and by operator. Model: the outputs of attention and of every second matrix product are kept, in
/// order of execution and a fused projection counted output by output, and of what a reduction scatters; everything
/// else is replayed from the layer's input, products in fp4 too: PyTorch's list of operators worth keeping has
/// aten._scaled_mm but not the aten._scaled_mm_v2 that they call (torch/_functorch/partitioners.py of 2.15; torchao's
/// nvfp4_linear.py). Attention that is not fused consists of batched products, which are not on the list.
/// Source: torchtitan's policy for selective activation checkpointing by operator (models/llama/parallelize_llama.py;
/// arXiv:2410.06511, section 2.2), over torch.utils.checkpoint's selective contexts.
/// Not modelled: what a reduction reads, where both are kept; products of experts, which it replays.
/// Checked against: tests/reference/selective_by_operator_test.cpp (a Llama layer, worked by hand).

#include <vector>

#include "core/sharding/keep_rule.h"

namespace plumbline {

struct KeptByOperator {
  std::vector<bool> tensors;  ///< by TensorId: what is kept alongside the layer's inputs
  std::vector<double> share;  ///< by OpId, of its work: 1 where it is kept, 0 where it runs again

  /// An operator whose outputs are all kept does not run again. `share` asks whose work is kept: a product of which
  /// only the reduced result is kept runs again in PyTorch, which asks for the product first.
  [[nodiscard]] Replay replay(const Block& block) const;
};

[[nodiscard]] KeptByOperator kept_by_operator(const Block& block, const Shard& shard);

}  // namespace plumbline
