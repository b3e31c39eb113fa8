#pragma once
/// \file op.h: an operator of the graph: its kind, attributes and tensors.
///
/// An operator names its inputs, parameters and outputs; everything that estimators price follows from its kind, its
/// attributes and those tensors. To add an operator, see the table in CONTRIBUTING.md.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/strong_id.h"
#include "core/graph/op_kind.h"
#include "core/graph/tensor.h"

namespace plumbline {

using OpId = StrongId<struct OpTag>;

/// How a linear operator's weight is divided over tensor-parallel ranks (Shoeybi et al., arXiv:1909.08053, section 3).
enum class WeightPartition : std::uint8_t { replicated, column, row };

struct LinearAttributes {
  std::int64_t in_features = 0;
  WeightPartition partition = WeightPartition::replicated;
};
/// `rows_per_token`: experts chosen per token (top-k). `out_features`: the sum over the op's outputs.
struct GroupedLinearAttributes {
  std::int64_t experts = 0;
  std::int64_t in_features = 0;
  std::int64_t out_features = 0;
  std::int64_t rows_per_token = 0;
  WeightPartition partition = WeightPartition::column;
};
/// Inputs: query [batch, sequence, heads * qk_head_dim], key and value with kv_heads; output [.., heads * v_head_dim].
struct AttentionAttributes {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t qk_head_dim = 0;
  std::int64_t v_head_dim = 0;
  bool causal = true;
  bool dropout = false;
  std::int64_t window = 0;    ///< tokens that a query sees; 0: all
  std::int64_t document = 0;  ///< tokens of one of several documents in a sequence that do not see each other; 0: one
};
/// Inputs: queries, keys and values in one, [batch, sequence, 2 * key_heads * key_head_dim + value_heads *
/// value_head_dim], and the gates of writing and of forgetting, [.., 2 * value_heads]; output [.., value_heads *
/// value_head_dim]. Each key head serves value_heads / key_heads value heads.
struct DeltaRuleAttributes {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_head_dim = 0;
  std::int64_t value_head_dim = 0;
};
struct RouterAttributes {
  std::int64_t experts = 0;
  std::int64_t chosen = 0;  ///< experts per token (top-k)
};
struct ConvolutionAttributes {
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t groups = 1;
};
struct PoolingAttributes {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
};
/// Whether a gate and what it scales are clamped to a range first (gpt-oss: swiglu_limit).
enum class GateLimits : std::uint8_t { no, yes };
struct GatedActivationAttributes {
  GateLimits limits = GateLimits::no;
};
/// Whether rotary positions lengthen what they turn (YaRN's attention factor, arXiv:2309.00071, section 3.4).
enum class RotaryMagnitude : std::uint8_t { kept, scaled };
struct RotaryAttributes {
  RotaryMagnitude magnitude = RotaryMagnitude::kept;
};
struct CrossEntropyAttributes {
  std::int64_t classes = 0;
};

using OpAttributes = std::variant<std::monostate, LinearAttributes, GroupedLinearAttributes, AttentionAttributes,
                                  RouterAttributes, ConvolutionAttributes, PoolingAttributes, CrossEntropyAttributes,
                                  GatedActivationAttributes, RotaryAttributes, DeltaRuleAttributes>;

struct Op {
  OpKind kind = OpKind::add;
  std::string name;
  OpAttributes attributes;
  std::vector<TensorId> inputs;
  std::vector<TensorId> parameters;
  std::vector<TensorId> outputs;
};

/// Whether tensor-parallel ranks each make a part of a linear's outputs, from all rows of its input.
[[nodiscard]] inline bool is_column_parallel(const Op& op) {
  return op.kind == OpKind::linear && std::get<LinearAttributes>(op.attributes).partition == WeightPartition::column;
}
/// Whether ranks each have a part of what a linear, or that of experts, reads, and of its weights' last dimension.
[[nodiscard]] inline bool is_row_parallel(const Op& op) {
  if (const auto* linear = std::get_if<LinearAttributes>(&op.attributes))
    return linear->partition == WeightPartition::row;
  const auto* grouped = std::get_if<GroupedLinearAttributes>(&op.attributes);
  return grouped != nullptr && grouped->partition == WeightPartition::row;
}

}  // namespace plumbline
