#pragma once
/// \file router.h: which experts a token goes to and with what weight.
///
/// Logits come from a linear layer in fp32. Probabilities are their softmax over all experts; the k largest are chosen
/// (ties: the lower expert), with their probabilities as weights, or divided by their sum. No token is dropped.
/// Source: Fedus et al., arXiv:2101.03961, equations 1 and 2. Not modelled: losses that balance experts, routing by
/// groups of experts, sigmoid scores, bias-balanced routing, capacities.
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

/// weight_gradient [tokens, chosen] fp32; logit_gradient [tokens, experts] (written).
struct RouterBackward {
  const float* weight_gradient = nullptr;
  ConstTensorView probabilities;
  const std::int32_t* experts = nullptr;
  TensorView logit_gradient;
  std::int64_t chosen = 1;
  RouterWeights kind = RouterWeights::normalised;
};

namespace reference {

/// At most this many experts: a row of probabilities is worked on at once.
inline constexpr std::int64_t most_experts = 512;

void router_forward(const RouterForward& args);
void router_choice(const RouterChoice& args);
void router_weighing(const RouterWeighing& args);
void router_backward(const RouterBackward& args);

}  // namespace reference
}  // namespace plumbline
