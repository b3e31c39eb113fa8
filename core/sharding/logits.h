#pragma once
/// \file logits.h: how a rank stores the logits that the loss reads.
///
/// Rows begin at multiples of eight elements, which are 16 bytes in 16-bit formats, whatever the vocabulary is:
/// products by tensor cores and accesses of 128 bits need it. Measured on an H200 with 50 257 classes: without it
/// products of the head and the loss of GPT-2 take 3.6 times as long (docs/cuda.md). Source: cuBLAS documentation,
/// "Tensor Core Usage" (leading dimensions in multiples of 16 bytes). Not modelled: padded vocabularies, which have
/// classes of their own. Checked against: tests/unit/core/sharding/logits_test.cpp, tests/runtime/execution (bytes).

#include "core/graph/block.h"
#include "core/sharding/shard.h"

namespace plumbline {

/// Whether a loss reads it, labels apart.
[[nodiscard]] bool is_logits(const Block& block, TensorId tensor);

/// Elements from the begin of a row of so many classes to that of the next.
[[nodiscard]] constexpr std::int64_t logit_stride(std::int64_t classes) {
  constexpr std::int64_t unit = 8;
  return (classes + unit - 1) / unit * unit;
}

/// What a rank stores of logits, the ends of rows included.
[[nodiscard]] Bytes logit_bytes(const Tensor& logits, const Shard& shard);

}  // namespace plumbline
