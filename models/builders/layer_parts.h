#pragma once
/// \file layer_parts.h: the parts that transformer layers are made of, written op by op.
///
/// Each takes a block under construction and a [batch, sequence, hidden] tensor and returns a tensor of that shape.
/// Tensor parallelism as in Shoeybi et al., arXiv:1909.08053, section 3: the first product of a part is divided by
/// columns, the last by rows.

#include "models/description/transformer_description.h"

namespace plumbline {

/// Projections, attention core and output projection; `x` is already normalized.
[[nodiscard]] TensorId attention_part(BlockBuilder& block, const AttentionDescription& attention,
                                      const LayerVariant& variant, OpKind norm, TensorId x);
/// Projections, short convolution, gated delta rule, norm of each head under a gate, and output projection.
[[nodiscard]] TensorId delta_net_part(BlockBuilder& block, const DeltaNetDescription& net, OpKind norm, TensorId x);
/// Attention of `x` over `memory` (the encoder's state).
[[nodiscard]] TensorId cross_attention_part(BlockBuilder& block, const AttentionDescription& attention, TensorId x,
                                            TensorId memory);
/// Two products and an activation, or three with a gate. `name` prefixes the operators.
[[nodiscard]] TensorId mlp_part(BlockBuilder& block, const std::string& name, const MlpDescription& mlp, TensorId x);
/// Router, dispatch, experts, combine, and the shared expert where there is one.
[[nodiscard]] TensorId mixture_part(BlockBuilder& block, const MixtureDescription& mixture, TensorId x);

}  // namespace plumbline
