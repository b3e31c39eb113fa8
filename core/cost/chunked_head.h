#pragma once
/// \file chunked_head.h: head and loss of a few tokens at a time, as Liger's fused linear cross-entropy runs them.
///
/// Answers into how many chunks a rank's tokens are cut and what moves beyond the products themselves. Model: as many
/// chunks as the vocabulary is larger than the hidden size, of a power of two of tokens each, so that the logits of one
/// take about what the input of the head does. For each chunk, in the forward pass: logits, their loss and gradient in
/// one kernel over them, the gradient of the input, and a product that adds to the gradient of the weight, which reads
/// it once more. The backward pass finds its gradients made. Source: linkedin/Liger-Kernel,
/// src/liger_kernel/ops/fused_linear_cross_entropy.py (releases 0.5 and 0.6: torch.addmm into the gradient). Not
/// modelled: later releases, which add a 32-bit copy of the product to the gradient of a 16-bit weight, 14 bytes of
/// traffic for each of its numbers and chunk; the synchronisation with the host that counts targets.
/// Checked against: tests/reference/fused_linear_loss_test.cpp (four times published for one A100, within 6 %).

#include "core/quantity/number_format.h"
#include "core/quantity/quantity.h"
#include "core/sharding/matrix_product.h"

namespace plumbline {

struct ChunkedHead {
  std::int64_t rows = 0;  ///< tokens of a chunk
  std::int64_t chunks = 0;
  /// Of all chunks: the gradient of the weight, read to be added to; writing it is part of the products.
  [[nodiscard]] Bytes accumulated(const MatrixProduct& head, NumberFormat format) const;
};

/// `head`: of all tokens, [tokens, hidden] x [hidden, classes].
[[nodiscard]] ChunkedHead chunked_head(const MatrixProduct& head);

}  // namespace plumbline
