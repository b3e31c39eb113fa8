#include "core/cost/primitive_operators.h"

#include <algorithm>
#include <cmath>

#include "core/cost/autocast.h"

namespace plumbline {
namespace {

// In passes over a 16-bit tensor; a 32-bit tensor is two.

constexpr PassCounts rotation{10, 10};
/// The other half negated (1) and joined (2), products with cosines (2) and sines (2), their sum (3), a copy (2); back:
/// two products (4), the negation (1), joining (2), their sum (3).
constexpr PassCounts rotation_by_halves{12, 10};
/// By 32-bit cosines and sines: negated (1) and joined (2), two products (3 each), their sum (6), a cast (3); back: the
/// cast (3), two products (4 each) and their casts (3 each), the negation (1), joining (2), their sum (3).
constexpr PassCounts rotation_by_wide_halves{18, 23};
/// Two clamps (2 + 2) and joining them (4); the clamps' gradients (3 + 3) and joining those (4).
constexpr PassCounts limits{8, 10};
/// Adding (2) and joining (2); the bias's gradient (1) and joining the products' (2).
constexpr PassCounts biases{4, 3};
/// Bias by weight (1), adding (3) and joining (2); gradients of bias (2 + 1) and weight (2 + 1) and joining (2).
constexpr PassCounts weighted_biases{6, 8};
/// What op_work counts of each.
constexpr PassCounts fused_rotation = record_of(OpKind::rotary).moved;
constexpr PassCounts fused_gate = record_of(OpKind::gated_activation).moved;
constexpr PassCounts composed_gate = record_of(OpKind::gated_activation).composed;
constexpr std::int64_t passes_of_a_sum = 3;
constexpr std::int64_t passes_of_a_copy = 2;

Bytes times(double ratio, Bytes counted) { return Bytes(std::llround(ratio * static_cast<double>(counted.value()))); }

double pass_ratio(std::int64_t passes, std::int64_t of_fused) {
  return static_cast<double>(passes) / static_cast<double>(of_fused);
}

}  // namespace

bool clamps_apart(const Op& op, LimitedGates how) {
  const auto* gated = std::get_if<GatedActivationAttributes>(&op.attributes);
  return how == LimitedGates::copied && gated != nullptr && gated->limits == GateLimits::yes;
}

bool scales_what_it_turns(const Op& op) {
  const auto* rotary = std::get_if<RotaryAttributes>(&op.attributes);
  return rotary != nullptr && rotary->magnitude == RotaryMagnitude::scaled;
}

bool adds_by_expert(const Op& op, ExpertBiases how) {
  if (op.kind != OpKind::grouped_linear || how == ExpertBiases::fused) return false;
  const bool has_biases = op.parameters.size() > op.outputs.size();
  return has_biases && (how == ExpertBiases::by_expert || is_second_of_experts(op));
}

bool is_second_of_experts(const Op& op) {
  const auto* product = std::get_if<GroupedLinearAttributes>(&op.attributes);
  return product != nullptr && product->partition == WeightPartition::row;
}

OperatorPasses::OperatorPasses(const StackFeatures& features) : features_(features) {
  const auto over = [&](OperatorKernels kernels, PassCounts own, PassCounts fused) {
    return kernels == OperatorKernels::fused ? Ratio{} : ratio(own, fused);
  };
  scaled_rotation_ = over(features.scaled_rotations, rotation_by_halves, fused_rotation);
  gate_ = over(features.gates, composed_gate, fused_gate);
  if (features.gates == OperatorKernels::primitive) passes_of_a_sum_ = passes_of_a_sum;
  if (features.rotations == Rotations::complex) rotation_ = wide_rotation_ = ratio(rotation, fused_rotation);
  if (features.rotations != Rotations::by_halves) return;
  rotation_ = scaled_rotation_ = ratio(rotation_by_halves, fused_rotation);
  wide_rotation_ = ratio(rotation_by_wide_halves, fused_rotation);
}

OperatorPasses::Ratio OperatorPasses::ratio(PassCounts own, PassCounts fused) {
  return {pass_ratio(own.forward, fused.forward), pass_ratio(own.backward, fused.backward)};
}

OperatorPasses::Ratio OperatorPasses::of_rotary(const Op& op, bool casts) const {
  if (casts && features_.rotations == Rotations::by_halves) return wide_rotation_;
  return scales_what_it_turns(op) ? scaled_rotation_ : rotation_;
}

Traffic OperatorPasses::memory_traffic(const Op& op, const OpWork& work, const PrecisionFormats& formats) const {
  const bool casts = casts_itself(features_, formats);
  const auto scaled = [&](Ratio by) {
    return Traffic{times(by.forward, work.forward_traffic), times(by.backward, work.backward_traffic)};
  };
  const OpRecord& record = record_of(op.kind);
  if (features_.norms == OperatorKernels::primitive && is_token_norm(op.kind) && record.composed.forward > 0)
    return scaled(ratio(record.composed, record.moved));
  switch (op.kind) {
    case OpKind::rotary: return scaled(of_rotary(op, casts));
    case OpKind::gated_activation: {
      Traffic traffic = scaled(gate_);
      if (!clamps_apart(op, features_.kept.limited_gates)) return traffic;
      traffic.forward += times(pass_ratio(limits.forward, fused_gate.forward), work.forward_traffic);
      traffic.backward += times(pass_ratio(limits.backward, fused_gate.backward), work.backward_traffic);
      return traffic;
    }
    default: break;
  }
  if (casts) return autocast_traffic(op, work, features_.mixed_precision);
  return {work.forward_traffic, work.backward_traffic};
}

Traffic OperatorPasses::expert_biases(const Op& op, const OpWork& work, NumberFormat activation) const {
  if (!adds_by_expert(op, features_.expert_biases)) return {};
  const MatrixProduct& p = *work.product;
  const Bytes output = storage(p.batch * p.m * p.n, activation);
  const PassCounts& passes = is_second_of_experts(op) ? weighted_biases : biases;
  return {passes.forward * output, work.needs.input || work.needs.weight ? passes.backward * output : Bytes(0)};
}

Traffic OperatorPasses::expert_padding(const Op& op, const OpWork& work, NumberFormat activation) const {
  if (op.kind != OpKind::grouped_linear || features_.expert_casts != ExpertCasts::padded) return {};
  const MatrixProduct& p = *work.product;
  const std::int64_t width = is_second_of_experts(op) ? p.n : p.k;
  const Bytes copy = passes_of_a_copy * storage(p.batch * p.m * width, activation);
  return {copy, work.needs.input || work.needs.weight ? copy : Bytes(0)};
}

Bytes OperatorPasses::gradient_sums(const Op& op, const OpWork& work, NumberFormat activation) const {
  if (passes_of_a_sum_ == 0 || op.outputs.size() < 2 || !work.needs.input || !work.product) return Bytes(0);
  const auto sums = static_cast<std::int64_t>(op.outputs.size() - 1);
  return sums * passes_of_a_sum_ * storage(work.product->batch * work.product->m * work.product->k, activation);
}

Bytes OperatorPasses::repeated_heads(const AttentionWork& work, NumberFormat activation) const {
  if (features_.key_value_heads == KeyValueHeads::shared || work.kv_heads >= work.heads) return Bytes(0);
  return storage(work.batch * work.queries * (work.heads + work.kv_heads) * (work.qk_head_dim + work.v_head_dim),
                 activation);
}

double copies_of_heads(const AttentionWork& work, KeyValueHeads heads) {
  if (heads == KeyValueHeads::shared) return 1;
  return static_cast<double>(work.heads) / static_cast<double>(std::max<std::int64_t>(1, work.kv_heads));
}

}  // namespace plumbline
