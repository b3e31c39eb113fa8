#include "core/cost/primitive_operators.h"

#include <algorithm>
#include <cmath>

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

Bytes times(double ratio, Bytes counted) { return Bytes(std::llround(ratio * static_cast<double>(counted.value()))); }

double ratio(std::int64_t passes, std::int64_t of_fused) {
  return static_cast<double>(passes) / static_cast<double>(of_fused);
}

}  // namespace

OperatorPasses::OperatorPasses(const StackFeatures& features)
    : repeats_heads_(features.key_value_heads == KeyValueHeads::repeated) {
  const auto over = [](OperatorKernels kernels, Passes primitive, Passes fused) {
    if (kernels == OperatorKernels::fused) return Ratio{};
    return Ratio{ratio(primitive.forward, fused.forward), ratio(primitive.backward, fused.backward)};
  };
  norm_ = over(features.norms, norm, fused_norm);
  rotation_ = over(features.rotations, rotation, fused_rotation);
  gate_ = over(features.gates, gate, fused_gate);
  if (features.gates == OperatorKernels::primitive) passes_of_a_sum_ = passes_of_a_sum;
}

Traffic OperatorPasses::memory_traffic(const Op& op, const OpWork& work) const {
  const auto scaled = [&](Ratio by) {
    return Traffic{times(by.forward, work.forward_traffic), times(by.backward, work.backward_traffic)};
  };
  switch (op.kind) {
    case OpKind::rms_norm: return scaled(norm_);
    case OpKind::rotary: return scaled(rotation_);
    case OpKind::gated_activation: return scaled(gate_);
    default: return {work.forward_traffic, work.backward_traffic};
  }
}

Bytes OperatorPasses::gradient_sums(const Op& op, const OpWork& work, NumberFormat activation) const {
  if (passes_of_a_sum_ == 0 || op.outputs.size() < 2 || !work.needs.input || !work.product) return Bytes(0);
  const auto sums = static_cast<std::int64_t>(op.outputs.size() - 1);
  return sums * passes_of_a_sum_ * storage(work.product->batch * work.product->m * work.product->k, activation);
}

Bytes OperatorPasses::repeated_heads(const AttentionWork& work, NumberFormat activation) const {
  if (!repeats_heads_ || work.kv_heads >= work.heads) return Bytes(0);
  return storage(work.batch * work.queries * (work.heads + work.kv_heads) * (work.qk_head_dim + work.v_head_dim),
                 activation);
}

double OperatorPasses::copies_of_heads(const AttentionWork& work) const {
  if (!repeats_heads_) return 1;
  return static_cast<double>(work.heads) / static_cast<double>(std::max<std::int64_t>(1, work.kv_heads));
}

}  // namespace plumbline
