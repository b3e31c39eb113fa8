#pragma once
/// \file op_kind.h: the kinds of operators, and what is known of each without its tensors: one row per kind.
///
/// What depends on shapes or on how a block is divided is a rule of its own; see the table in CONTRIBUTING.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plumbline {

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
  add,  ///< residual or skip addition
  dropout,
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

/// Kinds that the same rules hold for.
enum class OpFamily : std::uint8_t {
  single,
  lookup,             ///< takes or adds rows of a table
  linear,             ///< products with weights
  token_norm,         ///< over the features of a token
  activation,         ///< gated or not
  token_permutation,  ///< from the order of tokens to that of experts, or back
};

enum class OutputShape : std::uint8_t {
  of_inputs,  ///< all inputs have its shape
  own,        ///< by a rule of shape_rules.cpp, if any
};

/// What a backward reads besides gradients and parameters, so that it is saved for it.
enum class BackwardReads : std::uint8_t {
  nothing,
  input,
  output,
  mask,  ///< a byte for each element of the output, written by the forward
  input_and_statistics,
  own,  ///< by a rule of core/sharding/saved_tensors.cpp
};

struct PassCounts {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
};

struct KernelNames {
  std::string_view forward;
  std::string_view backward;
};

/// What a norm does with the mean of what it normalises.
enum class NormMean : std::uint8_t { kept, subtracted };

struct NormRecord {
  std::string_view published;  ///< as torch.nn and measured runs spell it
  NormMean mean = NormMean::kept;
  bool has_bias = false;  ///< after the weight, as wide as it
};

struct OpRecord {
  OpKind kind;
  std::string_view name;
  OpFamily family = OpFamily::single;
  /// Whether `plan run` has a kernel for it; a static_assert in runtime/execution/kernel_call.cpp compares its table.
  bool is_executed = false;
  std::size_t inputs = 1;  ///< concatenate: at least
  OutputShape output;
  BackwardReads backward_reads;
  /// In fp32, of each row that is normalised: a mean and a reciprocal deviation, or only the latter.
  std::int64_t statistics_per_row = 0;
  /// How often an optimal kernel reads or writes as many bytes as its output has; a mask comes on top. None: by a rule
  /// of core/sharding/op_work.cpp, if any.
  PassCounts moved{};
  /// That the host launches of a fused implementation (source: core/cost/launches.h). Of products, attention and the
  /// delta rule core/cost/launches.cpp counts them.
  PassCounts kernels{1, 1};
  /// As `moved`, where a framework runs it primitive by primitive, over a 16-bit output; a 32-bit tensor is two
  /// (source: core/cost/primitive_operators.h). None: nothing is composed, or in more than one way.
  PassCounts composed{};
  /// Names in kernel tables (core/measurement/kernel_table.h), from which fits take a traffic of its own. Empty: is not
  /// timed, and moves its bytes as all kernels together do.
  KernelNames timed{};
  NormRecord norm{};  ///< of token norms
};

inline constexpr std::array op_records{
    OpRecord{.kind = OpKind::embedding,
             .name = "embedding",
             .family = OpFamily::lookup,
             .is_executed = true,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::nothing,
             .moved = {2, 3},
             .kernels = {3, 3}},
    OpRecord{.kind = OpKind::position_embedding,
             .name = "position_embedding",
             .family = OpFamily::lookup,
             .is_executed = true,
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::nothing,
             .moved = {2, 2}},
    OpRecord{.kind = OpKind::linear,
             .name = "linear",
             .family = OpFamily::linear,
             .is_executed = true,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::own},
    OpRecord{.kind = OpKind::grouped_linear,
             .name = "grouped_linear",
             .family = OpFamily::linear,
             .is_executed = true,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::own},
    OpRecord{.kind = OpKind::batched_matmul,
             .name = "batched_matmul",
             .inputs = 2,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::own},
    OpRecord{.kind = OpKind::attention,
             .name = "attention",
             .is_executed = true,
             .inputs = 3,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::own},
    OpRecord{.kind = OpKind::delta_rule,
             .name = "delta_rule",
             .inputs = 2,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::own},
    OpRecord{.kind = OpKind::softmax,
             .name = "softmax",
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::output,
             .moved = {2, 3}},
    // Norms read and write the tensor once; their backward reads the output gradient and the input and writes the input
    // gradient, and a kernel of its own reduces the gradients of weights.
    OpRecord{.kind = OpKind::layer_norm,
             .name = "layer_norm",
             .family = OpFamily::token_norm,
             .is_executed = true,
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::input_and_statistics,
             .statistics_per_row = 2,
             .moved = {2, 3},
             .kernels = {1, 2},
             .timed = {"layer_norm_forward", "layer_norm_backward"},
             .norm = {"LayerNorm", NormMean::subtracted, true}},
    // Composed, forward: cast (1 + 2), square (2 + 2), mean (2), scale (2 + 2), cast (2 + 1), weight (1 + 1). Backward:
    // by weight (2), the weight's gradient (3 + 1), cast (3), by scale (4), the scale's gradient (6 + 2), of the square
    // (12), their sum (6), cast (3).
    OpRecord{.kind = OpKind::rms_norm,
             .name = "rms_norm",
             .family = OpFamily::token_norm,
             .is_executed = true,
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::input_and_statistics,
             .statistics_per_row = 1,
             .moved = {2, 3},
             .kernels = {1, 2},
             .composed = {18, 42},
             .timed = {"rms_norm_forward", "rms_norm_backward"},
             .norm = {"RMSNorm", NormMean::kept, false}},
    // Statistics go over all images: a kernel that reads the tensor for them, and one that reads it again to normalise.
    // Backward one reads output gradient and input for two sums, another both again for the input gradient (Ioffe &
    // Szegedy, arXiv:1502.03167, section 3; PyTorch, aten/src/ATen/native/cuda/Normalization.cuh).
    OpRecord{.kind = OpKind::batch_norm,
             .name = "batch_norm",
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::input_and_statistics,
             .statistics_per_row = 2,
             .moved = {3, 5},
             .kernels = {2, 2}},
    OpRecord{.kind = OpKind::activation,
             .name = "activation",
             .family = OpFamily::activation,
             .is_executed = true,
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::own,
             .moved = {2, 3},
             .timed = {"gelu_forward", "gelu_backward"}},
    // Composed: activation (1 + 1), product (2 + 1); gradients of both factors (3 + 3) and of the activation (3).
    OpRecord{.kind = OpKind::gated_activation,
             .name = "gated_activation",
             .family = OpFamily::activation,
             .is_executed = true,
             .inputs = 2,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::own,
             .moved = {3, 5},
             .composed = {5, 9},
             .timed = {"swiglu_forward", "swiglu_backward"}},
    // Its backward turns the other way.
    OpRecord{.kind = OpKind::rotary,
             .name = "rotary",
             .is_executed = true,
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::nothing,
             .moved = {2, 2},
             .timed = {"rotary", "rotary"}},
    // The gradient of a sum is shared, but where the branches meet again it is accumulated: two reads and a write.
    OpRecord{.kind = OpKind::add,
             .name = "add",
             .is_executed = true,
             .inputs = 2,
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::nothing,
             .moved = {3, 3},
             .timed = {"add", ""}},
    OpRecord{.kind = OpKind::dropout,
             .name = "dropout",
             .is_executed = true,
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::mask,
             .moved = {2, 2},
             .timed = {"dropout_forward", "dropout_backward"}},
    // Its kernels score, choose, normalise and count.
    OpRecord{.kind = OpKind::router,
             .name = "router",
             .is_executed = true,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::own,
             .kernels = {8, 6}},
    // Its kernels sort, count and gather rows.
    OpRecord{.kind = OpKind::dispatch,
             .name = "dispatch",
             .family = OpFamily::token_permutation,
             .is_executed = true,
             .inputs = 2,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::nothing,
             .kernels = {4, 2}},
    OpRecord{.kind = OpKind::combine,
             .name = "combine",
             .family = OpFamily::token_permutation,
             .is_executed = true,
             .inputs = 2,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::own,
             .kernels = {2, 2}},
    OpRecord{.kind = OpKind::convolution,
             .name = "convolution",
             .output = OutputShape::own,
             .backward_reads = BackwardReads::own},
    // Before it features are brought together, by a copy, and after it tokens, as its kernel (causal_conv1d) wants the
    // former. Its backward activates again.
    OpRecord{.kind = OpKind::causal_convolution,
             .name = "causal_convolution",
             .output = OutputShape::of_inputs,
             .backward_reads = BackwardReads::input,
             .moved = {4, 5},
             .kernels = {2, 2}},
    OpRecord{
        .kind = OpKind::pooling, .name = "pooling", .output = OutputShape::own, .backward_reads = BackwardReads::input},
    OpRecord{.kind = OpKind::upsample,
             .name = "upsample",
             .output = OutputShape::own,
             .backward_reads = BackwardReads::nothing},
    OpRecord{.kind = OpKind::concatenate,
             .name = "concatenate",
             .output = OutputShape::own,
             .backward_reads = BackwardReads::nothing,
             .moved = {2, 2}},
    OpRecord{.kind = OpKind::select,
             .name = "select",
             .output = OutputShape::own,
             .backward_reads = BackwardReads::nothing,
             .kernels = {0, 0}},
    // Logits and loss are a memory class of their own. Over a divided vocabulary its kernels find maxima, mask, look
    // up, sum and average.
    OpRecord{.kind = OpKind::cross_entropy,
             .name = "cross_entropy",
             .is_executed = true,
             .inputs = 2,
             .output = OutputShape::own,
             .backward_reads = BackwardReads::nothing,
             .kernels = {12, 4}},
};
static_assert(
    [] {
      for (std::size_t i = 0; i < op_records.size(); ++i)
        if (op_records[i].kind != static_cast<OpKind>(i)) return false;
      return op_records.back().kind == OpKind::cross_entropy;
    }(),
    "records are found by their kind's number");
static_assert(
    [] {
      for (const OpRecord& record : op_records)
        if (record.output == OutputShape::of_inputs && (record.moved.forward == 0 || record.moved.backward == 0))
          return false;
      return true;
    }(),
    "what makes an output of its inputs' shape reads and writes it");
static_assert(
    [] {
      for (const OpRecord& record : op_records)
        if ((record.backward_reads == BackwardReads::input_and_statistics) != (record.statistics_per_row > 0))
          return false;
      return true;
    }(),
    "what reads statistics says how many");
static_assert(
    [] {
      for (const OpRecord& record : op_records)
        if (record.family == OpFamily::token_norm &&
            (record.norm.published.empty() ||
             record.statistics_per_row != (record.norm.mean == NormMean::subtracted ? 2 : 1)))
          return false;
      return true;
    }(),
    "norms of tokens have a name, and keep the mean that they subtract");

[[nodiscard]] constexpr const OpRecord& record_of(OpKind kind) { return op_records[static_cast<std::size_t>(kind)]; }
[[nodiscard]] constexpr std::string_view to_text(OpKind kind) { return record_of(kind).name; }
[[nodiscard]] constexpr bool is_executed(OpKind kind) { return record_of(kind).is_executed; }

[[nodiscard]] constexpr bool is_of(OpFamily family, OpKind kind) { return record_of(kind).family == family; }
[[nodiscard]] constexpr bool is_lookup(OpKind kind) { return is_of(OpFamily::lookup, kind); }
[[nodiscard]] constexpr bool is_linear(OpKind kind) { return is_of(OpFamily::linear, kind); }
[[nodiscard]] constexpr bool is_activation(OpKind kind) { return is_of(OpFamily::activation, kind); }
[[nodiscard]] constexpr bool is_token_norm(OpKind kind) { return is_of(OpFamily::token_norm, kind); }
[[nodiscard]] constexpr bool is_norm(OpKind kind) { return is_token_norm(kind) || kind == OpKind::batch_norm; }
/// The first norm of tokens that does so with the mean of a row.
[[nodiscard]] constexpr OpKind token_norm(NormMean mean) {
  std::size_t i = 0;
  while (!is_token_norm(op_records[i].kind) || op_records[i].norm.mean != mean) ++i;
  return op_records[i].kind;
}
static_assert(token_norm(NormMean::kept) != token_norm(NormMean::subtracted));
[[nodiscard]] constexpr bool is_same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}
/// The norm of tokens that is published under the name, in capitals or not; nothing: there is none.
[[nodiscard]] constexpr std::optional<OpKind> token_norm_called(std::string_view published) {
  for (const OpRecord& record : op_records)
    if (is_token_norm(record.kind) && is_same_word(record.norm.published, published)) return record.kind;
  return std::nullopt;
}
[[nodiscard]] constexpr bool permutes_tokens(OpKind kind) { return is_of(OpFamily::token_permutation, kind); }

}  // namespace plumbline
