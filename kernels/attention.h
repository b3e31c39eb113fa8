#pragma once
/// \file attention.h: softmax(Q K^T * scale) V in tiles with an online softmax; saves one log-sum-exp per query and
/// head.
///
/// A call sees the queries and keys of one rank, which may be slices of longer sequences: `first_query` and `first_key`
/// say where. Ring attention calls forward once per block of keys and merges (attention_merge), and backward once per
/// block with the whole output and log-sum-exp, adding up the gradients. Queries that see none of the keys give zeros
/// and a log-sum-exp of minus infinity, which merges as nothing.
/// Source: Dao, FlashAttention-2, arXiv:2307.08691, algorithms 1 and 2; merging: Liu et al., arXiv:2310.01889.
/// Not modelled: masks between packed documents.
/// Checked against: PyTorch (tests/kernels/attention_test.cpp), within 1e-5 of the largest element in fp32; the unfused
/// form; ring pieces against the whole.

#include "kernels/dropout.h"
#include "kernels/tensor_view.h"

namespace plumbline {

enum class Mask : std::uint8_t {
  none,
  causal  ///< a query sees the keys up to its own position
};

/// What both directions know. Rows are [batch, positions]; queries of head h use keys of head h * kv_heads / heads.
struct AttentionShape {
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t queries = 0;  ///< positions per sequence in this call
  std::int64_t keys = 0;
  std::int64_t qk_head_dim = 0;
  std::int64_t v_head_dim = 0;
  float scale = 1.0F;  ///< usually 1 / sqrt(qk_head_dim)
  Mask mask = Mask::causal;
  std::int64_t window = 0;  ///< with a causal mask: positions that a query sees, its own included; 0: all
  std::int64_t first_query = 0;
  std::int64_t first_key = 0;
};

/// Dropout of probabilities. An element's index counts [first_sequence + b, first_head + h, query, key] of the whole.
struct AttentionDropout {
  DropoutDraw draw;
  std::int64_t first_sequence = 0;
  std::int64_t first_head = 0;
  std::int64_t whole_heads = 1;
  std::int64_t whole_positions = 0;
};

/// query [batch * queries, heads * qk_head_dim], key [batch * keys, kv_heads * qk_head_dim], value with v_head_dim;
/// output [batch * queries, heads * v_head_dim]; log_sum_exp [batch, heads, queries] fp32 (written). Nothing aliases.
struct AttentionForward {
  AttentionShape shape;
  ConstTensorView query;
  ConstTensorView key;
  ConstTensorView value;
  TensorView output;
  float* log_sum_exp = nullptr;
  AttentionDropout dropout = {};
  Workspace workspace = {};
};

/// Shapes as forward; output and log_sum_exp are those of all keys. Each gradient is overwritten or added to.
struct AttentionBackward {
  AttentionShape shape;
  ConstTensorView output_gradient;
  ConstTensorView query;
  ConstTensorView key;
  ConstTensorView value;
  ConstTensorView output;
  const float* log_sum_exp = nullptr;
  TensorView query_gradient;
  TensorView key_gradient;
  TensorView value_gradient;
  Write write_query = Write::overwrite;
  Write write_key_value = Write::overwrite;
  AttentionDropout dropout = {};
  Workspace workspace = {};
};

/// Adds a block's result to those of the blocks before: output and log_sum_exp become those of both blocks' keys.
/// output, block_output [batch * queries, heads * v_head_dim]; sums [batch, heads, queries].
struct AttentionMerge {
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t queries = 0;
  TensorView output;  ///< fp32, or it rounds at every block
  float* log_sum_exp = nullptr;
  ConstTensorView block_output;
  const float* block_log_sum_exp = nullptr;
};

namespace reference {

[[nodiscard]] Bytes attention_workspace(const AttentionForward& args);
[[nodiscard]] Bytes attention_workspace(const AttentionBackward& args);
void attention_forward(const AttentionForward& args);
void attention_backward(const AttentionBackward& args);
void attention_merge(const AttentionMerge& args);
/// "flash-2": in tiles, backward by the log-sum-exp.
[[nodiscard]] inline const char* attention_kernel(const AttentionForward& /*args*/) { return "flash-2"; }

}  // namespace reference
}  // namespace plumbline
