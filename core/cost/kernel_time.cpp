#include "core/cost/kernel_time.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/cost/exponentials.h"
#include "core/machine/abilities.h"

namespace plumbline {
namespace {

/// Forward and backward of FlashAttention: two and five products of the same size (arXiv:2307.08691, section 3).
constexpr double flash_backward_products = 2.5;

double as_double(std::int64_t value) { return static_cast<double>(value); }

/// Both operands and the result of every product.
double elements_of(const MatrixProduct& p) {
  return as_double(p.batch) *
         (as_double(p.m) * as_double(p.k) + as_double(p.k) * as_double(p.n) + as_double(p.m) * as_double(p.n));
}

}  // namespace

KernelClock::KernelClock(const Device& device, const Calibration& calibration)
    : device_(device), calibration_(calibration) {
  check(calibration.device.shapes.has_value(), "a set gives every device the shapes of products");
}

Seconds KernelClock::timed_product(const MatrixProduct& p, NumberFormat format, const ProductTerms& terms) const {
  const Seconds time = product_in(p, format, terms);
  return format == NumberFormat::tf32 ? std::min(time, product_in(p, NumberFormat::fp32, terms)) : time;
}

Seconds KernelClock::product_in(const MatrixProduct& p, NumberFormat format, const ProductTerms& terms) const {
  if (p.m <= 0 || p.n <= 0 || p.k <= 0) return Seconds(0);
  const ProductEfficiency& efficiency = calibration_.device.product(format);
  const double depth = as_double(p.k) / (as_double(p.k) + efficiency.half_depth * terms.depth_scale);
  const double quantisation = std::pow(tile_efficiency(p, device_.streaming_multiprocessors, shapes(), terms.parts),
                                       calibration_.device.wave_exponent);
  const double rate =
      device_.product_peak(format).value() * efficiency.peak_fraction * terms.factor * depth * quantisation;
  const double traffic = static_cast<double>(bits(format)) / 8 * terms.elements;
  const Seconds arithmetic = p.flops() / FlopsPerSecond(rate);
  return std::max(arithmetic, stream(traffic)) + Seconds(calibration_.device.kernel_gap_s);
}

OperandLayouts KernelClock::fp8_layouts() const {
  return abilities(device_.architecture).any_fp8_layout ? OperandLayouts::any : OperandLayouts::summed_first;
}

double KernelClock::scaled_rate(NumberFormat format, OperandScaling scaling) const {
  if (bits(format) != 8) return 1;
  const ComputeEfficiency& stack = calibration_.stack.compute;
  switch (scaling) {
    case OperandScaling::row: return stack.row_scaled_rate;
    case OperandScaling::block: return device_.scales_blocks() ? stack.microscaled_rate : stack.block_scaled_rate;
    case OperandScaling::microscaled: return stack.microscaled_rate;
    default: return 1;
  }
}

Seconds KernelClock::product(const MatrixProduct& p, NumberFormat format, OperandScaling scaling) const {
  const double batched = p.batch > 1 ? calibration_.device.batched_product_factor.value : 1.0;
  return timed_product(p, format,
                       {elements_of(p), alignment_factor(p, shapes()) * scaled_rate(format, scaling) * batched});
}

Seconds KernelClock::convolution(const MatrixProduct& p, std::int64_t elements, NumberFormat format) const {
  const double grouped = p.batch > 1 ? calibration_.device.batched_product_factor.value : 1.0;
  return timed_product(p, format, {as_double(elements), alignment_factor(p, shapes()) * grouped, 1.0, DepthParts::any});
}

Seconds KernelClock::grouped_product(const MatrixProduct& p, NumberFormat format, OperandScaling scaling) const {
  const double factor = calibration_.device.grouped_product_factor * scaled_rate(format, scaling);
  return timed_product(p, format, {elements_of(p), alignment_factor(p, shapes()) * factor});
}

Seconds KernelClock::unfused_attention(const AttentionWork& w, NumberFormat format, int products,
                                       double score_bytes) const {
  // Half of the products have the head dimension inside (scores), half outside (values); the head dimension is short
  // in both, so their depth penalty is half of a plain product's.
  const double head = head_alignment_factor(w.qk_head_dim, shapes()) * calibration_.device.batched_product_factor;
  const MatrixProduct scores{w.batch * w.heads, w.queries, w.keys, w.qk_head_dim};
  const MatrixProduct values{w.batch * w.heads, w.queries, w.v_head_dim, w.keys};
  const double each = products / 2.0;
  return each * timed_product(scores, format, {elements_of(scores), head, 0.5}) +
         each * timed_product(values, format, {elements_of(values), head, 0.5}) + stream(w.scores() * score_bytes) +
         Seconds(calibration_.device.kernel_gap_s);
}

Seconds KernelClock::attention_dropout(const AttentionWork& w, Coefficient OperatorTraffic::*direction) const {
  const OperatorTraffic* measured = w.dropout ? calibration_.device.traffic(OpKind::attention) : nullptr;
  return measured == nullptr ? Seconds(0) : stream(w.scores() * (w.causal ? 0.5 : 1.0) * (measured->*direction));
}

Seconds KernelClock::fused_attention(const AttentionWork& w, NumberFormat format, SoftmaxFactor softmax) const {
  const double computed = w.causal ? 0.5 : 1.0;
  const double flops = 2.0 * w.scores() * as_double(w.qk_head_dim + w.v_head_dim) * computed;
  const double length = as_double(w.queries);
  const double efficiency = calibration_.device.flash_forward_fraction * calibration_.stack.compute.flash_factor *
                            length / (length + calibration_.device.flash_half_sequence);
  const double traffic = static_cast<double>(bits(format)) / 8 * as_double(w.batch) *
                         (as_double(w.queries) * as_double(w.heads) * as_double(w.qk_head_dim + w.v_head_dim) +
                          as_double(w.keys) * as_double(w.kv_heads) * as_double(w.qk_head_dim + w.v_head_dim));
  const double head = as_double(w.qk_head_dim + w.v_head_dim) / 2;
  const double slower = bits(format) == 16 ? softmax(device_, head) : 1;
  return std::max(slower * (Flops(flops) / FlopsPerSecond(device_.product_peak(format).value() * efficiency)),
                  stream(traffic)) +
         Seconds(calibration_.device.kernel_gap_s);
}

Seconds KernelClock::attention_forward(const AttentionWork& w, FlashAttention flash, NumberFormat format) const {
  if (flash == FlashAttention::off)
    return unfused_attention(w, format, 2, calibration_.stack.compute.score_bytes_forward);
  return fused_attention(w, format, softmax_factor_forward) + attention_dropout(w, &OperatorTraffic::forward);
}

Seconds KernelClock::attention_backward(const AttentionWork& w, FlashAttention flash, NumberFormat format) const {
  if (flash == FlashAttention::off)
    return unfused_attention(w, format, 4, calibration_.stack.compute.score_bytes_backward);
  return flash_backward_products / calibration_.device.flash_backward_factor *
             fused_attention(w, format, softmax_factor_backward) +
         attention_dropout(w, &OperatorTraffic::backward);
}

Seconds KernelClock::delta_rule_forward(const OpWork& work, NumberFormat format) const {
  Seconds sum = memory(work.forward_traffic);
  for (const MatrixProduct& p : work.delta_rule->products()) sum += product(p, format);
  return sum;
}

Seconds KernelClock::delta_rule_backward(const OpWork& work, NumberFormat format) const {
  Seconds sum = memory(work.backward_traffic);
  const auto products = work.delta_rule->products();
  for (std::size_t i = 0; i < products.size(); ++i) {
    const MatrixProduct& p = products[i];
    if (i < DeltaRuleWork::products_made_again) sum += product(p, format);
    sum += product({p.batch, p.m, p.k, p.n}, format) + product({p.batch, p.k, p.n, p.m}, format);
  }
  return sum;
}

Seconds KernelClock::memory(Bytes traffic) const {
  return memory(traffic, calibration_.stack.compute.memory_bound_factor);
}

Seconds KernelClock::memory_forward(OpKind kind, Bytes traffic) const {
  const OperatorTraffic* measured = calibration_.device.traffic(kind);
  return measured == nullptr ? memory(traffic) : memory(traffic, measured->forward);
}

Seconds KernelClock::memory_backward(OpKind kind, Bytes traffic) const {
  const OperatorTraffic* measured = calibration_.device.traffic(kind);
  return measured == nullptr ? memory(traffic) : memory(traffic, measured->backward);
}

Seconds KernelClock::memory(Bytes traffic, double factor) const {
  if (traffic.value() == 0) return Seconds(0);
  return stream(static_cast<double>(traffic.value()) * factor) + Seconds(calibration_.device.kernel_gap_s);
}

Seconds KernelClock::routing(Bytes traffic) const {
  return stream(static_cast<double>(traffic.value()) * calibration_.stack.experts.routing_factor) +
         Seconds(calibration_.device.kernel_gap_s);
}

Seconds KernelClock::loss(Bytes traffic) const {
  return stream(static_cast<double>(traffic.value()) * calibration_.stack.compute.loss_factor);
}

Seconds KernelClock::stream(double bytes) const {
  return Seconds(bytes / (device_.memory_bandwidth.value.value() * calibration_.device.bandwidth_fraction));
}

}  // namespace plumbline
