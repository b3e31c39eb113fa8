#include "core/cost/launches.h"

#include "core/cost/primitive_operators.h"

namespace plumbline {
namespace {

/// Unfused attention is two products, softmax and dropout, and their gradients; FlashAttention's backward sums the
/// output gradients first.
constexpr Launches unfused_attention{4, 6};
constexpr Launches fused_attention{1, 2};
/// Megatron's fused softmax takes score matrices by fours; others are cast, masked, normalised and cast back.
/// Source: Megatron-LM, megatron/model/fused_softmax.py, is_kernel_available.
constexpr std::int64_t fused_softmax_matrices = 4;
constexpr Launches composed_softmax{4, 4};
/// Gates take seven elementwise kernels, repeated heads two, values a copy, norms two, the rule six (sums of decays,
/// K K^T, its inverse, W and U, states, outputs). Back: W, U and states again, four of gradients, two additions, a sum
/// of decays; two of norms, two sums over repeated heads, their joining, and seven of the gates. Source:
/// flash-linear-attention, fla/ops/gated_delta_rule/chunk.py; transformers, modeling_qwen3_next.py.
constexpr Launches recurrence{7 + 2 + 1 + 2 + 6, 6 + 3 + 2 + 2 + 1 + 7};
/// Two clamps and joining them, and their gradients.
constexpr Launches limits{3, 3};
/// A negation, two joins, two products and a sum; back without the second join.
constexpr Launches rotation_by_halves{6, 5};
/// Of each expert's biases, next to joining all: an addition and the sum of its gradient; where the router's weights
/// scale them, a product and both its gradients with their sums as well.
constexpr Launches biases_of_an_expert{1, 1};
constexpr Launches weighted_biases_of_an_expert{2, 4};

Launches fused(OpKind kind) {
  const PassCounts& kernels = record_of(kind).kernels;
  return {static_cast<double>(kernels.forward), static_cast<double>(kernels.backward)};
}

Launches of_product(const OpWork& work, const CastKernels& casts, double kernels) {
  const double input = work.backward_input.value() > 0 ? kernels : 0;
  const double weight = work.backward_weight.value() > 0 ? kernels : 0;
  const double forward = kernels * (1 + casts.forward);
  return {forward, input + weight > 0 ? input + weight + kernels * casts.backward : 0, weight};
}

Launches of_attention(const AttentionWork& work, FlashAttention flash) {
  if (flash == FlashAttention::on) return fused_attention;
  if (work.batch * work.heads % fused_softmax_matrices == 0) return unfused_attention;
  return {unfused_attention.forward + composed_softmax.forward, unfused_attention.backward + composed_softmax.backward};
}

double kernels_per_step(OpKind kind, const StackCalibration& stack) {
  const bool routes = kind == OpKind::router || permutes_tokens(kind);
  return routes ? stack.experts.kernels_per_routing : stack.host.kernels_per_operator;
}

Launches of_biases(const Op& op, const OpWork& work, const StackCalibration& stack) {
  if (!adds_by_expert(op, stack.features.expert_biases)) return {};
  const auto experts = static_cast<double>(work.product->batch);
  const Launches& each = is_second_of_experts(op) ? weighted_biases_of_an_expert : biases_of_an_expert;
  return {experts * each.forward + 1, experts * each.backward + 1};
}

Launches scaled(const Launches& all, double factor) { return {factor * all.forward, factor * all.backward}; }

}  // namespace

Launches launches(const Op& op, const OpWork& work, const CastKernels& casts, FlashAttention flash,
                  const StackCalibration& stack) {
  Launches result;
  switch (work.kind) {
    case WorkKind::product: {
      result = of_product(work, casts, 1);
      if (op.kind != OpKind::router) break;
      const Launches chosen = scaled(fused(op.kind), kernels_per_step(op.kind, stack));
      result += chosen;
      break;
    }
    case WorkKind::grouped_product:
      result =
          of_product(work, casts, 1 + stack.experts.kernels_per_expert * static_cast<double>(work.product->batch - 1));
      result += of_biases(op, work, stack);
      break;
    case WorkKind::attention: result = of_attention(*work.attention, flash); break;
    case WorkKind::delta_rule: result = recurrence; break;
    case WorkKind::memory:
      result = scaled(fused(op.kind), kernels_per_step(op.kind, stack));
      if (stack.features.scaled_rotations == OperatorKernels::primitive && scales_what_it_turns(op))
        result = rotation_by_halves;
      if (clamps_apart(op, stack.features.kept.limited_gates)) result += limits;
      break;
  }
  if (!work.needs.input && !work.needs.weight) result.backward = result.backward_weight = 0;
  return result;
}

}  // namespace plumbline
