#pragma once
/// \file op.h: the operators of the graph and what each needs to know about itself.
///
/// An operator names its inputs, parameters and outputs; everything that estimators price follows from its kind, its
/// attributes and those tensors. To add an operator, see the table in CONTRIBUTING.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/strong_id.h"
#include "core/graph/tensor.h"

namespace plumbline {

using OpId = StrongId<struct OpTag>;

enum class OpKind : std::uint8_t {
  embedding,           ///< token ids -> vectors
  position_embedding,  ///< adds a learned vector per position
  linear,              ///< one input, one or more outputs (fused projections), a weight and maybe a bias per output
  grouped_linear,      ///< a linear per expert over routed tokens, one or more outputs
  batched_matmul,      ///< product of two activations
  attention,           ///< the attention core: scores, softmax, dropout, values
  delta_rule,          ///< the core of Gated DeltaNet: a state per head, written and read token by token
  softmax,
  layer_norm,
  rms_norm,
  batch_norm,
  activation,        ///< GELU, SiLU, ReLU: needs its input for backward
  gated_activation,  ///< act(gate) * up
  rotary,
  dropout,
  add,       ///< residual or skip addition
  router,    ///< scores per expert and top-k choice
  dispatch,  ///< tokens to their experts (all-to-all over expert-parallel ranks)
  combine,   ///< weighted sum of expert outputs back in token order
  convolution,
  causal_convolution,  ///< over the last tokens, each feature on its own, with an activation behind it
  pooling,
  upsample,
  concatenate,
  select,  ///< takes a slice (first token, last position) or reshapes: moves nothing of weight
  cross_entropy,
};

struct OpName {
  OpKind kind;
  std::string_view name;
};
inline constexpr std::array op_names = std::to_array<OpName>({{OpKind::embedding, "embedding"},
                                                              {OpKind::position_embedding, "position_embedding"},
                                                              {OpKind::linear, "linear"},
                                                              {OpKind::grouped_linear, "grouped_linear"},
                                                              {OpKind::batched_matmul, "batched_matmul"},
                                                              {OpKind::attention, "attention"},
                                                              {OpKind::delta_rule, "delta_rule"},
                                                              {OpKind::softmax, "softmax"},
                                                              {OpKind::layer_norm, "layer_norm"},
                                                              {OpKind::rms_norm, "rms_norm"},
                                                              {OpKind::batch_norm, "batch_norm"},
                                                              {OpKind::activation, "activation"},
                                                              {OpKind::gated_activation, "gated_activation"},
                                                              {OpKind::rotary, "rotary"},
                                                              {OpKind::dropout, "dropout"},
                                                              {OpKind::add, "add"},
                                                              {OpKind::router, "router"},
                                                              {OpKind::dispatch, "dispatch"},
                                                              {OpKind::combine, "combine"},
                                                              {OpKind::convolution, "convolution"},
                                                              {OpKind::causal_convolution, "causal_convolution"},
                                                              {OpKind::pooling, "pooling"},
                                                              {OpKind::upsample, "upsample"},
                                                              {OpKind::concatenate, "concatenate"},
                                                              {OpKind::select, "select"},
                                                              {OpKind::cross_entropy, "cross_entropy"}});
static_assert(
    [] {
      for (std::size_t i = 0; i < op_names.size(); ++i)
        if (op_names[i].kind != static_cast<OpKind>(i)) return false;
      return op_names.back().kind == OpKind::cross_entropy;
    }(),
    "every kind has its name, in their order");
[[nodiscard]] constexpr std::string_view to_text(OpKind kind) { return op_names[static_cast<std::size_t>(kind)].name; }

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

}  // namespace plumbline
