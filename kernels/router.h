#pragma once
/// \file router.h: which experts a token goes to and with what weight; the balance loss.
///
/// Logits come from a linear layer in fp32. Probabilities are their softmax over all experts; the k largest are chosen
/// (ties: the lower expert), with their probabilities as weights, or divided by their sum. No token is dropped.
/// Balance loss of one sequence: coefficient * experts * sum over experts of f_e P_e, with f_e the fraction of the
/// sequence's k * tokens choices that fell on e (no gradient) and P_e the mean probability. A rank with a slice of the
/// sequence adds its counts and sums to those of the others first, so the loss does not depend on the layout.
/// Source: Fedus et al., arXiv:2101.03961, equations 4 to 6; per sequence: DeepSeek-V3, arXiv:2412.19437, 17 to 20.
/// Not modelled: routing by groups of experts, sigmoid scores, bias-balanced routing, capacities.
/// Checked against: PyTorch (tests/kernels/router_test.cpp), within 1e-6 in fp32.

#include "kernels/tensor_view.h"

namespace plumbline {

enum class RouterWeights : std::uint8_t {
  probability,  ///< Switch, OLMoE, DeepSeek-V2
  normalised    ///< divided by the sum of the chosen (Mixtral, Qwen3-MoE)
};

/// logits, probabilities [tokens, experts] (probabilities written, fp32 or not), experts [tokens, chosen] and weights
/// [tokens, chosen] fp32 (written), best first.
struct RouterForward {
  ConstTensorView logits;
  TensorView probabilities;
  std::int32_t* experts = nullptr;
  float* weights = nullptr;
  std::int64_t chosen = 1;
  RouterWeights kind = RouterWeights::normalised;
};

/// Of probabilities that router_forward wrote: experts [tokens, chosen] (written), best first, as router_forward chose.
struct RouterChoice {
  ConstTensorView probabilities;
  std::int32_t* experts = nullptr;
  std::int64_t chosen = 1;
};

/// Of any choice of experts: weights [tokens, chosen] fp32 (written).
struct RouterWeighing {
  ConstTensorView probabilities;
  const std::int32_t* experts = nullptr;
  float* weights = nullptr;
  std::int64_t chosen = 1;
  RouterWeights kind = RouterWeights::normalised;
};

/// Per sequence of a rank's tokens: counts and probability sums [sequences, experts] fp32 (written), sequences =
/// tokens / tokens_per_sequence (of this rank).
struct RouterBalance {
  ConstTensorView probabilities;
  const std::int32_t* experts = nullptr;
  std::int64_t chosen = 1;
  std::int64_t tokens_per_sequence = 1;
  float* counts = nullptr;
  float* probability_sums = nullptr;
};

/// counts and probability_sums as summed over the ranks that share the sequences; whole_sequence: their tokens.
struct RouterBalanceLoss {
  const float* counts = nullptr;
  const float* probability_sums = nullptr;
  std::int64_t sequences = 0;
  std::int64_t experts = 0;
  std::int64_t chosen = 1;
  std::int64_t whole_sequence = 1;
  float coefficient = 0;
};

/// weight_gradient [tokens, chosen] fp32; logit_gradient [tokens, experts] (written). With counts, the balance loss's
/// gradient is added; balance_scale is what the loss is multiplied by (the loss scale / number of sequences).
struct RouterBackward {
  const float* weight_gradient = nullptr;
  ConstTensorView probabilities;
  const std::int32_t* experts = nullptr;
  TensorView logit_gradient;
  std::int64_t chosen = 1;
  RouterWeights kind = RouterWeights::normalised;
  const float* counts = nullptr;
  std::int64_t tokens_per_sequence = 1;
  std::int64_t whole_sequence = 1;
  float coefficient = 0;
  float balance_scale = 1;
};

namespace reference {

/// At most this many experts: a row of probabilities is worked on at once.
inline constexpr std::int64_t most_experts = 512;

void router_forward(const RouterForward& args);
void router_choice(const RouterChoice& args);
void router_weighing(const RouterWeighing& args);
void router_balance(const RouterBalance& args);
/// Sum over the sequences of their balance losses.
[[nodiscard]] double router_balance_loss(const RouterBalanceLoss& args);
void router_backward(const RouterBackward& args);

}  // namespace reference
}  // namespace plumbline
