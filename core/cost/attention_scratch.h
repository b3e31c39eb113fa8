#pragma once
/// \file attention_scratch.h: bytes that attention's backward needs beside its tensors.
///
/// Answers per block and micro-batch. Model: cuDNN's deterministic backward keeps the gradient of the softmax's inputs
/// in 16 bits, batch x query heads x queries x keys, both rounded up to 64, whatever the size of a head; with shared
/// keys also the gradients of keys and values of every query head. It takes 16-bit formats, heads of up to 128
/// features, no dropout and a rank's own keys (runtime/cuda/attention_kernels.h). Source: NVIDIA cudnn-frontend 1.x,
/// include/cudnn_frontend/node/scaled_dot_product_flash_attention.h (required_dp_workspace_bytes, which a deterministic
/// backward forces; dK_fullhead, dV_fullhead). Not modelled: the sums of each query's row, 4 bytes a query and head.
/// Checked against: cuDNN 9.19 on an H200 on 2026-11-26, within 1 MB over six shapes with heads of 64 features
/// (docs/cuda.md); tests/unit/core/cost/attention_scratch_test.cpp.

#include "core/graph/block.h"
#include "core/sharding/shard.h"

namespace plumbline {

/// The most of the block's operators.
[[nodiscard]] Bytes attention_scratch(const Block& block, const Shard& shard);

}  // namespace plumbline
