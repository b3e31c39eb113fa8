#pragma once
/// \file cross_entropy.h: the loss -log softmax(logits)[target], summed over tokens, and its gradient.
///
/// Vocabulary-parallel ranks hold columns [first_class, first_class + columns) of the logits and call the pieces:
/// local maxima, all-reduce (max), local sums, all-reduce (sum), combine. `cross_entropy` does all three on one rank.
/// A negative target is no token: no loss, zero gradient. Saves nothing but three fp32 per token while it runs.
/// Source: Shoeybi et al., arXiv:1909.08053, section 3 (the parallel loss).
/// Not modelled: label smoothing, z-loss.
/// Checked against: PyTorch (tests/kernels/cross_entropy_test.cpp), within 1e-6; the pieces against the whole.

#include "kernels/tensor_view.h"

namespace plumbline {

/// logits [tokens, columns]; maximum [tokens] (written by local_maximum, read by the others); sum and target_logit
/// [tokens] (written by local_sum: the sum of exp(logit - maximum), and the target's logit or 0 where another rank
/// holds it; read by combine). logit_gradient, or nothing, [tokens, columns]: (softmax - one at the target) *
/// gradient_scale * loss scale; it may be logits.
struct CrossEntropy {
  ConstTensorView logits;
  const std::int32_t* targets = nullptr;
  float* maximum = nullptr;
  float* sum = nullptr;
  float* target_logit = nullptr;
  TensorView logit_gradient = {};
  float gradient_scale = 1.0F;  ///< usually 1 / tokens of the whole batch
  std::int64_t first_class = 0;
  const double* loss_scale = nullptr;  ///< on the gradient too, in the memory of the tensors; nothing: 1
};

/// Sum over tokens that have a target, and their number.
struct CrossEntropyLoss {
  double sum = 0;
  std::int64_t tokens = 0;
};

namespace reference {

void cross_entropy_local_maximum(const CrossEntropy& args);
void cross_entropy_local_sum(const CrossEntropy& args);
/// The loss is that of the whole vocabulary: the same on each rank.
CrossEntropyLoss cross_entropy_combine(const CrossEntropy& args);
CrossEntropyLoss cross_entropy(const CrossEntropy& args);
/// Adds what `cross_entropy_combine` returns.
void cross_entropy_add(const CrossEntropy& args, CrossEntropyLoss* sum);

}  // namespace reference
}  // namespace plumbline
