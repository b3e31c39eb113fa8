#include "core/cost/primitive_operators.h"

#include <algorithm>

namespace plumbline {
namespace {

/// Passes over a 16-bit tensor; a 32-bit tensor is two.
struct Passes {
  std::int64_t forward;
  std::int64_t backward;
};

/// Forward: cast (1 + 2), square (2 + 2), mean (2), scale (2 + 2), cast (2 + 1), weight (1 + 1). Backward: by weight
/// (2), the weight's gradient (3 + 1), cast (3), by scale (4), the scale's gradient (6 + 2), of the square (12), their
/// sum (6), cast (3).
constexpr Passes norm{18, 42};
constexpr Passes rotation{10, 10};
/// Activation (1 + 1), product (2 + 1); gradients of both factors (3 + 3) and of the activation (3).
constexpr Passes gate{5, 9};
/// What op_work counts of each (memory_work).
constexpr Passes fused_norm{2, 3};
constexpr Passes fused_rotation{2, 2};
constexpr Passes fused_gate{3, 5};
constexpr std::int64_t passes_of_a_sum = 3;

Traffic scaled(const OpWork& work, Passes primitive, Passes fused, double share) {
  const auto at = [&](Bytes counted, std::int64_t passes, std::int64_t of_fused) {
    const double ratio = 1 + share * (static_cast<double>(passes) / static_cast<double>(of_fused) - 1);
    return Bytes(std::llround(ratio * static_cast<double>(counted.value())));
  };
  return {at(work.forward_traffic, primitive.forward, fused.forward),
          at(work.backward_traffic, primitive.backward, fused.backward)};
}

}  // namespace

Traffic memory_traffic(const Op& op, const OpWork& work, const StackCalibration& stack) {
  switch (op.kind) {
    case OpKind::rms_norm: return scaled(work, norm, fused_norm, stack.primitive_norms);
    case OpKind::rotary: return scaled(work, rotation, fused_rotation, stack.primitive_rotations);
    case OpKind::gated_activation: return scaled(work, gate, fused_gate, stack.primitive_operators);
    default: return {work.forward_traffic, work.backward_traffic};
  }
}

Bytes gradient_sums(const Op& op, const OpWork& work, NumberFormat activation, const StackCalibration& stack) {
  if (stack.primitive_operators <= 0 || op.outputs.size() < 2 || !work.needs.input || !work.product) return Bytes(0);
  const auto sums = static_cast<std::int64_t>(op.outputs.size() - 1);
  return sums * passes_of_a_sum * storage(work.product->batch * work.product->m * work.product->k, activation);
}

Bytes repeated_heads(const AttentionWork& work, NumberFormat activation, const StackCalibration& stack) {
  if (stack.repeated_heads <= 0 || work.kv_heads >= work.heads) return Bytes(0);
  return storage(work.batch * work.queries * (work.heads + work.kv_heads) * (work.qk_head_dim + work.v_head_dim),
                 activation);
}

double copies_of_heads(const AttentionWork& work, const StackCalibration& stack) {
  if (stack.repeated_heads <= 0) return 1;
  return static_cast<double>(work.heads) / static_cast<double>(std::max<std::int64_t>(1, work.kv_heads));
}

}  // namespace plumbline
