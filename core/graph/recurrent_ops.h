#pragma once
/// \file recurrent_ops.h: writes the operators of layers that carry a state from token to token into a block.
///
/// Gated DeltaNet (Yang et al., arXiv:2412.06464): queries, keys and values pass a short convolution over the last
/// tokens, then a state of key_head_dim x value_head_dim per value head forgets, is corrected towards each token's
/// value, and is read.

#include "core/graph/token_ops.h"

namespace plumbline::ops {

/// A depthwise convolution over the last `kernel` tokens and an activation; one row of weights for each feature.
TensorId causal_convolution(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t kernel);
/// Its parameters are two numbers per value head: the rate of forgetting (A_log) and its bias (dt_bias). `qkv` and
/// `gates` are as DeltaRuleAttributes says.
TensorId delta_rule(BlockBuilder& block, const std::string& name, TensorId qkv, TensorId gates,
                    DeltaRuleAttributes attributes);

}  // namespace plumbline::ops
