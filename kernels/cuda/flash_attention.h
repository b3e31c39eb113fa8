#pragma once
/// \file flash_attention.h: attention by tensor cores, for the calls that it takes.
///
/// Answers: whether it takes a call, and runs it. It takes 16-bit formats, the same for all tensors, head sizes of 64,
/// 96 and 128, rows that begin at multiples of 16 bytes, and no dropout; all masks, shared key heads and blocks of a
/// ring. Model: a block of four warps takes 64 queries and goes over tiles of 64 keys, the next of which are copied
/// meanwhile; probabilities are rounded to the format before they meet the values. Source: Dao, FlashAttention-2,
/// arXiv:2307.08691, algorithm 1. Not modelled: warps that only copy, wgmma. Checked against:
/// tests/kernels/cuda/flash_attention_test.cpp.

#include "kernels/attention.h"
#include "kernels/cuda/language.h"

namespace plumbline::cuda {

[[nodiscard]] bool takes_flash_attention(const AttentionForward& args);
/// Of a call that it takes.
void flash_attention_forward(const AttentionForward& args, cudaStream_t stream);

}  // namespace plumbline::cuda
