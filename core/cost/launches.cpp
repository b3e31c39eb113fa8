#include "core/cost/launches.h"

namespace plumbline {
namespace {

/// Kernels of a fused implementation. Norms reduce the gradients of their weights in a kernel of their own; unfused
/// attention is two products, softmax and dropout, and their gradients;
/// FlashAttention's backward sums the output gradients first. Routers score, choose, normalise and count; dispatch
/// sorts, counts and gathers rows. The loss over a divided vocabulary finds maxima, masks, looks up, sums and averages.
constexpr Launches norm{1, 2};
constexpr Launches unfused_attention{4, 6};
constexpr Launches fused_attention{1, 2};
/// Megatron's fused softmax takes score matrices by fours; others are cast, masked, normalised and cast back.
/// Source: Megatron-LM, megatron/model/fused_softmax.py, is_kernel_available.
constexpr std::int64_t fused_softmax_matrices = 4;
constexpr Launches composed_softmax{4, 4};
constexpr Launches routing{8, 6};
constexpr Launches dispatching{4, 2};
constexpr Launches combining{2, 2};
constexpr Launches looking_up{3, 3};
constexpr Launches loss{12, 4};
constexpr Launches one{1, 1};

/// Quantising the input and the output gradient; weights are quantised once per step.
constexpr double casts_of_a_product = 1;

Launches fused(OpKind kind) {
  switch (kind) {
    case OpKind::layer_norm:
    case OpKind::rms_norm:
    case OpKind::batch_norm: return norm;
    case OpKind::router: return routing;
    case OpKind::dispatch: return dispatching;
    case OpKind::combine: return combining;
    case OpKind::embedding: return looking_up;
    case OpKind::cross_entropy: return loss;
    case OpKind::select: return {0, 0};
    default: return one;
  }
}

Launches of_product(const OpWork& work, bool quantises, double kernels) {
  const double gradients =
      (work.backward_input.value() > 0 ? kernels : 0) + (work.backward_weight.value() > 0 ? kernels : 0);
  const double casts = quantises ? casts_of_a_product * kernels : 0;
  return {kernels + casts, gradients > 0 ? gradients + casts : 0};
}

Launches of_attention(const AttentionWork& work, FlashAttention flash) {
  if (flash == FlashAttention::on) return fused_attention;
  if (work.batch * work.heads % fused_softmax_matrices == 0) return unfused_attention;
  return {unfused_attention.forward + composed_softmax.forward, unfused_attention.backward + composed_softmax.backward};
}

Launches scaled(const Launches& all, double factor) { return {factor * all.forward, factor * all.backward}; }

}  // namespace

Launches launches(const Op& op, const OpWork& work, NumberFormat format, FlashAttention flash,
                  const StackCalibration& stack) {
  const bool quantises = is_quantized(format);
  Launches result;
  switch (work.kind) {
    case WorkKind::product: {
      result = of_product(work, quantises, 1);
      if (op.kind != OpKind::router) break;
      const Launches chosen = scaled(fused(op.kind), stack.host.kernels_per_operator);
      result.forward += chosen.forward;
      result.backward += chosen.backward;
      break;
    }
    case WorkKind::grouped_product:
      result = of_product(work, quantises,
                          1 + stack.experts.kernels_per_expert * static_cast<double>(work.product->batch - 1));
      break;
    case WorkKind::attention: result = of_attention(*work.attention, flash); break;
    case WorkKind::memory: result = scaled(fused(op.kind), stack.host.kernels_per_operator); break;
  }
  if (!work.needs.input && !work.needs.weight) result.backward = 0;
  return result;
}

}  // namespace plumbline
