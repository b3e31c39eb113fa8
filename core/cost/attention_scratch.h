#pragma once
/// \file attention_scratch.h: bytes that attention's backward needs beside its tensors.
///
/// Answers per block and micro-batch. Model: cuDNN's deterministic backward keeps a part of the queries' gradient in
/// fp32 for every 128 keys, and with shared keys the gradients of keys and values of every query head; it takes 16-bit
/// formats, heads of up to 128 features, no dropout and a rank's own keys (runtime/cuda/attention_kernels.h). Source:
/// measured with cuDNN 9.19 on an H200 on 2026-11-26, within 1 MB over six shapes (docs/cuda.md). Not modelled: other
/// releases. Checked against: tests/unit/core/cost/attention_scratch_test.cpp.

#include "core/graph/block.h"
#include "core/sharding/shard.h"

namespace plumbline {

/// The most of the block's operators.
[[nodiscard]] Bytes attention_scratch(const Block& block, const Shard& shard);

}  // namespace plumbline
