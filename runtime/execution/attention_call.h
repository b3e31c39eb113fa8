#pragma once
/// \file attention_call.h: what an attention kernel is told of a rank's slice.

#include "kernels/attention.h"
#include "runtime/execution/kernel_call.h"

namespace plumbline {

[[nodiscard]] AttentionShape attention_shape(const AttentionAttributes& attention, const RankEnvironment& environment);
[[nodiscard]] AttentionDropout attention_dropout(const AttentionAttributes& attention, const DropoutDraw& draw,
                                                 const RankEnvironment& environment);
/// Of a fused forward on the rank's own keys, without workspace.
[[nodiscard]] AttentionForward attention_forward_call(const KernelCall& call);
/// Of a fused backward on the rank's own keys, without workspace.
[[nodiscard]] AttentionBackward attention_backward_call(const KernelCall& call);

}  // namespace plumbline
