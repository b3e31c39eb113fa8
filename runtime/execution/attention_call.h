#pragma once
/// \file attention_call.h: what an attention kernel is told of a rank's slice.

#include "kernels/attention.h"
#include "kernels/unfused_attention.h"
#include "runtime/execution/kernel_call.h"

namespace plumbline {

[[nodiscard]] AttentionShape attention_shape(const AttentionAttributes& attention, const RankShare& share);
[[nodiscard]] AttentionDropout attention_dropout(const KernelCall& call);
/// One of attention's tensors as its kernel sees it: `tensor` as a rank has it between exchanges of heads, if there
/// are.
[[nodiscard]] TensorView attention_view(const KernelCall& call, std::size_t operand, TensorId tensor);
/// Of a fused forward on the rank's own keys, without workspace.
[[nodiscard]] AttentionForward attention_forward_call(const KernelCall& call);
/// Of a fused backward on the rank's own keys, without workspace.
[[nodiscard]] AttentionBackward attention_backward_call(const KernelCall& call);

/// Of an unfused forward and backward without keys, values, their gradients and workspace.
[[nodiscard]] UnfusedAttentionForward unfused_forward_call(const KernelCall& call);
[[nodiscard]] UnfusedAttentionBackward unfused_backward_call(const KernelCall& call);
/// Unfused attention where ranks divide the sequence: each gathers the keys and values of the others.
void run_gathered_attention(const KernelCall& call);

}  // namespace plumbline
