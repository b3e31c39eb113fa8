#pragma once
/// \file flash_attention.h: attention by tensor cores, for the calls that it takes.
///
/// Answers: whether it takes a call, and runs it. It takes 16-bit formats, the same for all tensors (gradients may be
/// fp32), head sizes of 64, 96 and 128, rows that begin at multiples of 16 bytes, and no dropout; all masks, shared key
/// heads and blocks of a ring. Model: a block of four warps takes 64 queries (or keys) and goes over tiles of keys (or
/// queries), the next of which are copied meanwhile; probabilities, and gradients of scores, are rounded to the format
/// before they meet values, keys and queries. Backward computes probabilities from the log-sum-exp twice: once for the
/// gradients of keys and values, where a block adds all queries of all heads that share them in order, and once for
/// those of queries: seven products instead of five, no atomic addition, the same bits at every run.
/// Source: Dao, FlashAttention-2, arXiv:2307.08691, algorithms 1 and 2. Not modelled: warps that only copy, wgmma.
/// Checked against: tests/kernels/cuda/flash_attention_test.cpp.

#include <cuda_runtime.h>

#include "kernels/attention.h"

namespace plumbline::cuda {

[[nodiscard]] bool takes_flash_attention(const AttentionForward& args);
[[nodiscard]] bool takes_flash_attention(const AttentionBackward& args);
/// Of calls that it takes.
void flash_attention_forward(const AttentionForward& args, cudaStream_t stream);
/// `along` [batch, heads, queries]: the sum of each output times its gradient.
void flash_attention_backward(const AttentionBackward& args, const float* along, cudaStream_t stream);

}  // namespace plumbline::cuda
