#pragma once
/// \file attention_kernels.h: attention of the CUDA device's table: cuDNN's, or our own (kernels/cuda).
///
/// Answers: which of them takes a call, its scratch, and its results. Model: cuDNN takes 16-bit calls with heads of up
/// to 128 features, without dropout, on whole sequences (no block of a ring), whose gradients are overwritten in the
/// same format, on devices of compute capability 9.0 and later; PLUMBLINE_ATTENTION=cudnn asks for it on older ones,
/// PLUMBLINE_ATTENTION=own for ours everywhere. Its backward is asked to be deterministic. Graphs are kept by shape and
/// strides; one that the library does not have goes to our kernels. Source: which is faster where is of
/// transformers' pull request 48163 and torchtitan's issue 1042 (cuDNN on Hopper, FlashAttention-2 on Ampere). Not
/// modelled: timing both. Checked against: tests/cuda/attention_kernels_test.cpp.

#include <string>

#include "kernels/attention.h"

namespace plumbline {
namespace library {

[[nodiscard]] Bytes attention_workspace(const AttentionForward& args);
[[nodiscard]] Bytes attention_workspace(const AttentionBackward& args);
// On the lane's stream.
void attention_forward(const AttentionForward& args);
void attention_backward(const AttentionBackward& args);
/// As kernel tables name it: "cudnn" or "flash-2".
[[nodiscard]] const char* attention_kernel(const AttentionForward& args);

}  // namespace library

/// Why our own kernels compute attention that cuDNN would compute on this thread's device; empty if cuDNN does, or is
/// not to be used.
[[nodiscard]] std::string missing_attention();

}  // namespace plumbline
