#pragma once
/// \file expert_routing.h: tokens to their experts and back: the permutation, the weighted sum, and their gradients.
///
/// Dropless: each of a token's `chosen` choices becomes one row; rows are sorted by expert, and keep the tokens' order
/// within an expert. Expert-parallel ranks exchange slices of these rows, and sort what arrives with `gather_rows`.
/// Choices, counts and orders are in the device's memory, as the tensors are.
/// Source: Gale et al., MegaBlocks, arXiv:2211.15841, section 4 (permutation and its inverse).
/// Checked against: PyTorch (tests/kernels/router_test.cpp), exact for rows, 1e-6 for sums; by hand
/// (tests/kernels/expert_routing_test.cpp).

#include "kernels/tensor_view.h"

namespace plumbline {

/// experts [tokens, chosen] (written): token by token and choice by choice in turn, so that a token's place in the
/// whole batch decides, whatever the layout. Source: Megatron-LM's --moe-router-force-load-balancing.
struct ExpertsInTurn {
  std::int64_t tokens = 0;
  std::int64_t first_token = 0;  ///< of the whole batch
  std::int64_t expert_count = 0;
  std::int64_t chosen = 1;
  std::int32_t* experts = nullptr;
};

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

/// counts [sources, experts]: rows that came from each source, sorted by expert. by_expert [experts] (written): rows of
/// each from all sources.
struct ArrivalCounts {
  const std::int64_t* counts = nullptr;
  std::int64_t sources = 1;
  std::int64_t experts = 1;
  std::int64_t* by_expert = nullptr;
};

/// Of the same counts, index [rows] (written). `sorted`: which arrival each row is once rows are sorted by expert, and
/// within an expert by source; `arrived`: which of the sorted rows each arrival is.
enum class ArrivalIndex : std::uint8_t { sorted, arrived };
struct ArrivalOrder {
  const std::int64_t* counts = nullptr;
  std::int64_t sources = 1;
  std::int64_t experts = 1;
  ArrivalIndex of = ArrivalIndex::sorted;
  std::int64_t* index = nullptr;
};

/// Of values [tokens, expert_count] those of the chosen experts, of_choices [tokens, chosen]; fp32. `chosen_values`
/// writes of_choices, `spread_chosen` values, with zeros where nothing is chosen.
struct ChosenValues {
  float* values = nullptr;
  const std::int32_t* experts = nullptr;
  std::int64_t tokens = 0;
  std::int64_t expert_count = 0;
  std::int64_t chosen = 1;
  float* of_choices = nullptr;
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

void experts_in_turn(const ExpertsInTurn& args);
void expert_permutation(const ExpertPermutation& args);
void arrival_counts(const ArrivalCounts& args);
void arrival_order(const ArrivalOrder& args);
void chosen_values(const ChosenValues& args);
void spread_chosen(const ChosenValues& args);
void gather_rows(const GatherRows& args);
void combine_forward(const CombineForward& args);
void combine_backward(const CombineBackward& args);

}  // namespace reference
}  // namespace plumbline
