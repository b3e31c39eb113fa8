#pragma once
/// \file primitive_operators.h: bytes that operators move where a framework runs them primitive by primitive.
///
/// Answers bytes per micro-batch, forward and backward; op_work.h counts one pass for each fused group. Model, in
/// passes over the operator's 16-bit output: a root-mean-square norm is cast to 32 bits, squared, averaged, scaled,
/// cast back and weighted (18; its gradients 42), a rotation is cast, multiplied as complex numbers and cast back (10
/// and 10), one by halves is products with cosines and sines (12 and 10; 18 and 23 in 32 bits), a gate is an
/// activation and a product (5 and 9). An input that several products read gathers their gradients by sums of two (3
/// passes each). Limits of a gate that are not in its kernel are two clamps and a copy (8 passes over the gate's
/// output, backward 10). Biases that are added expert by expert are split off, added and joined (4 and 3 passes over
/// the product's output), those that the router's weights scale multiplied first (6 and 8). Rows of experts that are
/// padded for products in few bits are copied before the first product and after the second (2 and 2). Keys and values
/// that are repeated for every query head are read once and written for each. Source: the operators of torchtitan's
/// models (models/norms.py; llama3/model/model.py: apply_rotary_emb, repeat_kv, FeedForward), of Megatron-Core 0.16
/// (fusions/fused_bias_geglu.py: weighted_bias_quick_geglu_impl; transformer/moe/experts.py: TEGroupedMLP._apply_bias)
/// and NeMo AutoModel (components/moe/layers.py: GroupedExpertsDeepEP._apply_bias), and what PyTorch's autograd runs
/// for each (tools/autograd/derivatives.yaml). Norms are one kernel from PyTorch 2.9 on (pull request 153666).
/// TorchInductor generates no code for complex numbers and says so in a warning. Megatron-Core 0.16 leaves its fused
/// rotation where a scale is not 1 (models/common/embeddings/rope_utils.py). Not modelled: other rotations by halves
/// (Qwen3), which move about as much; caches that hold what the next kernel reads. Checked against:
/// tests/unit/core/cost/primitive_operators_test.cpp, by hand; torchtitan's Llama 3.1 8B with and without a compiler
/// (benchmarks/llama3_h100_202412_torchtitan.md): 0.41 s apart, counted 0.43.

#include "core/cost/stack_features.h"
#include "core/sharding/op_work.h"

namespace plumbline {

struct Traffic {
  Bytes forward{0};
  Bytes backward{0};
};

/// Whether a gate's limits take kernels of their own.
[[nodiscard]] bool clamps_apart(const Op& op, LimitedGates how);
[[nodiscard]] bool scales_what_it_turns(const Op& op);
/// Whether the biases of a grouped product are added expert by expert.
[[nodiscard]] bool adds_by_expert(const Op& op, ExpertBiases how);
/// Whether it is the second product of experts, whose biases the router's weights scale.
[[nodiscard]] bool is_second_of_experts(const Op& op);

/// How many copies of keys and values travel between ranks.
[[nodiscard]] double copies_of_heads(const AttentionWork& work, KeyValueHeads heads);

/// The passes of a stack's operators, worked out from its features once.
class OperatorPasses {
 public:
  explicit OperatorPasses(const StackFeatures& features);

  /// Of a memory-bound operator: what op_work counted, or its primitives'.
  [[nodiscard]] Traffic memory_traffic(const Op& op, const OpWork& work, const PrecisionFormats& formats) const;
  /// With a grouped product that has biases: adding them, and their gradients.
  [[nodiscard]] Traffic expert_biases(const Op& op, const OpWork& work, NumberFormat activation) const;
  /// With a grouped product in few bits: copies of its rows to multiples of a tile before the first of an expert's
  /// products and back after the second, and those of their gradients.
  [[nodiscard]] Traffic expert_padding(const Op& op, const OpWork& work, NumberFormat activation) const;
  /// With a product: sums of the gradients of its input, one for each output after the first.
  [[nodiscard]] Bytes gradient_sums(const Op& op, const OpWork& work, NumberFormat activation) const;
  /// With attention: keys and values of this rank's tokens, repeated for every query head, and their gradients summed.
  [[nodiscard]] Bytes repeated_heads(const AttentionWork& work, NumberFormat activation) const;

 private:
  /// Of primitive over fused operators.
  struct Ratio {
    double forward = 1;
    double backward = 1;
  };
  [[nodiscard]] static Ratio ratio(PassCounts own, PassCounts fused);
  [[nodiscard]] Ratio of_rotary(const Op& op, bool casts) const;
  Ratio rotation_;
  Ratio wide_rotation_;  ///< by 32-bit cosines and sines
  Ratio scaled_rotation_;
  Ratio gate_;
  std::int64_t passes_of_a_sum_ = 0;
  StackFeatures features_;
};

}  // namespace plumbline
