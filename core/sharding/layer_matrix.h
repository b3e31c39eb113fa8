#pragma once
/// \file layer_matrix.h: which parameters an optimizer that orthogonalises takes as matrices.
///
/// Source: Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024): embeddings, heads, norms
/// and biases are left to AdamW. Checked against: tests/runtime/execution/matrix_update_test.cpp.

#include "core/graph/graph.h"

namespace plumbline {

/// Whether it is a weight matrix of a layer: not of an embedding or a head, and no norm or bias.
[[nodiscard]] inline bool is_layer_matrix(const Block& block, const Tensor& parameter) {
  return block.kind() == BlockKind::layer && parameter.shape.size() >= 2;
}

}  // namespace plumbline
