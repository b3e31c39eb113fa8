#pragma once
/// \file layer_matrix.h: which parameters an optimizer that orthogonalises takes as matrices, and of which one
/// that quantizes states does so.
///
/// Source: Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024): embeddings, heads, norms
/// and biases are left to AdamW. bitsandbytes 0.50, optim/optimizer.py: parameters of fewer than `min_8bit_size`
/// elements keep states in fp32; transformers' Trainer leaves embeddings so too (register_module_override). Not
/// modelled: shards of large parameters that are smaller than that. Checked against:
/// tests/runtime/execution/matrix_update_test.cpp, quantized_update_test.cpp.

#include <cstdint>

#include "core/graph/graph.h"
#include "core/training/optimizer.h"

namespace plumbline {

/// Whether it is a weight matrix of a layer: not of an embedding or a head, and no norm or bias.
[[nodiscard]] inline bool is_layer_matrix(const Block& block, const Tensor& parameter) {
  return block.kind() == BlockKind::layer && parameter.shape.size() >= 2;
}

/// Parameters whose states are quantized.
struct QuantizedParameters {
  std::int64_t elements = 0;
  std::int64_t tensors = 0;
  void add(const QuantizedParameters& other, std::int64_t count) {
    elements += count * other.elements;
    tensors += count * other.tensors;
  }
};

/// Whether an optimizer that quantizes states keeps those of the whole parameter in codes.
[[nodiscard]] inline bool has_quantized_states(const Block& block, const Tensor& parameter) {
  if (block.kind() == BlockKind::input || parameter.tied) return false;
  std::int64_t elements = 1;
  for (const Dimension& dimension : parameter.shape) elements *= dimension.factor;
  return elements >= least_quantized_state;
}

}  // namespace plumbline
