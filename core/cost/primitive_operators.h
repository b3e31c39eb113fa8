#pragma once
/// \file primitive_operators.h: bytes that operators move where a framework runs them primitive by primitive.
///
/// Answers bytes per micro-batch, forward and backward; op_work.h counts one pass for each fused group. Model, in
/// passes over the operator's 16-bit output: a root-mean-square norm is cast to 32 bits, squared, averaged, scaled,
/// cast back and weighted (18; its gradients 42), a rotation is cast, multiplied as complex numbers and cast back (10
/// and 10), a gate is an activation and a product (5 and 9). An input that several products read gathers their
/// gradients by sums of two (3 passes each). Keys and values that are repeated for every query head are read once and
/// written for each.
/// Source: the operators of torchtitan's models (models/norms.py; llama3/model/model.py: apply_rotary_emb, repeat_kv,
/// FeedForward) and what PyTorch's autograd runs for each (tools/autograd/derivatives.yaml). Norms are one kernel from
/// PyTorch 2.9 on (pull request 153666). TorchInductor generates no code for complex numbers and says so in a warning.
/// Not modelled: rotations by halves (Qwen3), which move about as much; caches that hold what the next kernel reads.
/// Checked against: tests/unit/core/cost/primitive_operators_test.cpp, by hand; torchtitan's Llama 3.1 8B with and
/// without a compiler (benchmarks/llama3_h100_202412_torchtitan.md): 0.41 s apart, counted 0.43.

#include "core/cost/stack_features.h"
#include "core/sharding/op_work.h"

namespace plumbline {

struct Traffic {
  Bytes forward{0};
  Bytes backward{0};
};

/// The passes of a stack's operators, worked out from its features once.
class OperatorPasses {
 public:
  explicit OperatorPasses(const StackFeatures& features);

  /// Of a memory-bound operator: what op_work counted, or its primitives'.
  [[nodiscard]] Traffic memory_traffic(const Op& op, const OpWork& work) const;
  /// With a product: sums of the gradients of its input, one for each output after the first.
  [[nodiscard]] Bytes gradient_sums(const Op& op, const OpWork& work, NumberFormat activation) const;
  /// With attention: keys and values of this rank's tokens, repeated for every query head, and their gradients summed.
  [[nodiscard]] Bytes repeated_heads(const AttentionWork& work, NumberFormat activation) const;
  /// How many copies of keys and values travel between ranks.
  [[nodiscard]] double copies_of_heads(const AttentionWork& work) const;

 private:
  /// Of primitive over fused operators.
  struct Ratio {
    double forward = 1;
    double backward = 1;
  };
  Ratio norm_;
  Ratio rotation_;
  Ratio gate_;
  std::int64_t passes_of_a_sum_ = 0;
  bool repeats_heads_;
};

}  // namespace plumbline
