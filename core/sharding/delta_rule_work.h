#pragma once
/// \file delta_rule_work.h: what the gated delta rule computes and keeps on one rank, by its chunked algorithm.
///
/// Answers the matrix products of a micro-batch, bytes and elements kept. Model: a sequence is cut into chunks of C =
/// 64 tokens, the last one padded. With K, Q [C, dk], V [C, dv] of a value head, decays left out, T [C, C] the inverse
/// of a unit lower triangular matrix made of K K^T, and S [dk, dv] the state between chunks:
///   K K^T; U = T V; W = T K; W S; Q S; (Q K^T) (U - W S), two products; S += K^T (U - W S)
/// so a chunk takes 2 (3 C^2 dk + 2 C^2 dv + 3 C dk dv) FLOPs forward, a token 6 C dk + 4 C dv + 6 dk dv. Each product
/// has two backward. Kernels keep normalised queries and keys of every value head, values, gates, T and the reciprocal
/// norms, and make U, W, W S and the states again.
/// Source: Yang, Kautz, Hatamizadeh, arXiv:2412.06464, section 3.3; chunk size, what is kept and what is
/// made again: flash-linear-attention, fla/ops/gated_delta_rule/chunk.py; heads repeated before they are normalised:
/// transformers, modeling_qwen3_next.py, Qwen3NextGatedDeltaNet.
/// Not modelled: the triangular inverse (C^3 / 3 FLOPs a chunk, below 1 %), the triangles of zeros that are computed as
/// well as counted, states and U, W while a layer runs, chunks waiting for the state of the one before.
/// Checked against: tests/unit/core/sharding/delta_rule_work_test.cpp (the products run and counted, equal to the
/// recurrence).

#include <array>

#include "core/graph/op.h"
#include "core/sharding/matrix_product.h"
#include "core/sharding/shard.h"

namespace plumbline {

inline constexpr std::int64_t delta_rule_chunk = 64;

/// One rank's part of a delta rule.
struct DeltaRuleWork {
  std::int64_t batch = 0;
  std::int64_t tokens = 0;  ///< of a sequence
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_head_dim = 0;
  std::int64_t value_head_dim = 0;

  /// Of a forward pass. The first four run again in the backward.
  [[nodiscard]] std::array<MatrixProduct, 8> products() const;
  static constexpr std::size_t products_made_again = 4;
  [[nodiscard]] Flops flops() const;
  // Elements of what is kept from forward to backward.
  [[nodiscard]] std::int64_t kept_vectors() const;     ///< queries, keys, values, in the format of activations
  [[nodiscard]] std::int64_t kept_inverses() const;    ///< T, likewise
  [[nodiscard]] std::int64_t kept_statistics() const;  ///< in fp32: log decays twice, reciprocal norms
  /// Elements that copies and norms around the products read and write.
  [[nodiscard]] std::int64_t moved_forward() const;
  [[nodiscard]] std::int64_t moved_backward() const;

 private:
  [[nodiscard]] std::int64_t all_tokens() const { return batch * tokens; }
  [[nodiscard]] std::int64_t keys() const { return key_heads * key_head_dim; }
  [[nodiscard]] std::int64_t repeated_keys() const { return value_heads * key_head_dim; }
  [[nodiscard]] std::int64_t values() const { return value_heads * value_head_dim; }
};

/// `qkv`: the operator's first input.
[[nodiscard]] DeltaRuleWork delta_rule_work(const DeltaRuleAttributes& attributes, const Tensor& qkv,
                                            const Shard& shard);

}  // namespace plumbline
