#pragma once
/// \file expert_routing.h: tokens to their experts and back: the permutation, the weighted sum, and their gradients.
///
/// Dropless: each of a token's `chosen` choices becomes one row; rows are sorted by expert, and keep the tokens' order
/// within an expert. Expert-parallel ranks exchange slices of these rows, and sort what arrives with `gather_rows`.
/// Source: Gale et al., MegaBlocks, arXiv:2211.15841, section 4 (permutation and its inverse).
/// Checked against: PyTorch (tests/kernels/router_test.cpp), exact for rows, 1e-6 for sums.

#include "kernels/tensor_view.h"

namespace plumbline {

/// experts [tokens * chosen]; counts [expert_count] (written), slots [tokens * chosen]: the row of each choice
/// (written), sources [tokens * chosen]: the choice of each row (written), the inverse of slots.
struct ExpertPermutation {
  const std::int32_t* experts = nullptr;
  std::int64_t choices = 0;
  std::int64_t expert_count = 0;
  std::int64_t* counts = nullptr;
  std::int64_t* slots = nullptr;
  std::int64_t* sources = nullptr;
};

/// output row i = input row index[i] / divisor; zeros where the index is negative. With sources as index and `chosen`
/// as divisor it dispatches tokens; with slots it undoes a permutation. Nothing aliases.
struct GatherRows {
  ConstTensorView input;
  const std::int64_t* index = nullptr;
  std::int64_t divisor = 1;
  TensorView output;
};

/// output [tokens, columns] = sum over a token's choices k of weights[token, k] * rows[slots[token, k]], in the order
/// of k; without weights: the plain sum, which is the gradient of dispatch. Nothing aliases.
struct CombineForward {
  ConstTensorView rows;
  const std::int64_t* slots = nullptr;
  const float* weights = nullptr;
  std::int64_t chosen = 1;
  TensorView output;
};

/// row_gradient[slots[t, k]] = weights[t, k] * output_gradient[t]; weight_gradient[t, k] fp32 = the dot product of
/// rows[slots[t, k]] and output_gradient[t] (written). row_gradient may be rows.
struct CombineBackward {
  ConstTensorView output_gradient;
  ConstTensorView rows;
  const std::int64_t* slots = nullptr;
  const float* weights = nullptr;
  std::int64_t chosen = 1;
  TensorView row_gradient;
  float* weight_gradient = nullptr;
};

namespace reference {

void expert_permutation(const ExpertPermutation& args);
void gather_rows(const GatherRows& args);
void combine_forward(const CombineForward& args);
void combine_backward(const CombineBackward& args);

}  // namespace reference
}  // namespace plumbline
