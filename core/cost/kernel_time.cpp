#include "core/cost/kernel_time.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plumbline {
namespace {

/// Output tiles that vendor libraries offer and their share of the largest tile's rate.
/// Source: reference study of step times on A100 and H100 (docs/calibrations.md); order of magnitude from the
/// matrix-multiplication guide's tile table.
struct Tile {
  std::int64_t m;
  std::int64_t n;
  double rate;
};
constexpr std::array tiles{Tile{256, 128, 1.0}, Tile{128, 256, 1.0}, Tile{128, 128, 0.94}, Tile{256, 64, 0.85},
                           Tile{64, 256, 0.85}, Tile{128, 64, 0.78}, Tile{64, 128, 0.78},  Tile{64, 64, 0.62}};
constexpr std::int64_t shortest_split_depth = 512;
constexpr double split_rate = 0.93;  // the partial sums are added up
constexpr std::array<std::int64_t, 3> depth_splits{2, 4, 8};

/// Same study: dimensions divisible by 64 run at full rate.
struct Alignment {
  std::int64_t multiple;
  double factor;
};
constexpr std::array alignments{Alignment{64, 1.0}, Alignment{32, 0.956}, Alignment{16, 0.951}, Alignment{1, 0.775}};
/// Heads whose dimension is no multiple of 8 fall off the tensor cores' fast path in batched products.
constexpr std::array head_alignments{Alignment{16, 1.0}, Alignment{8, 0.773}, Alignment{1, 0.107}};

/// Forward and backward of FlashAttention: two and five products of the same size (arXiv:2307.08691, section 3).
constexpr double flash_backward_products = 2.5;

template <std::size_t N>
double aligned(const std::array<Alignment, N>& table, std::int64_t dimension) {
  for (const Alignment& row : table)
    if (dimension % row.multiple == 0) return row.factor;
  return table.back().factor;
}

double as_double(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

double tile_efficiency(const MatrixProduct& p, std::int32_t multiprocessors) {
  double best = 0;
  for (const Tile& tile : tiles) {
    const std::int64_t count = divided(p.m, tile.m) * divided(p.n, tile.n) * p.batch;
    const auto share = [&](std::int64_t split) {
      const std::int64_t waves = divided(count * split, multiprocessors);
      return tile.rate * as_double(p.batch) * as_double(p.m) * as_double(p.n) * as_double(split) /
             (as_double(waves) * multiprocessors * as_double(tile.m) * as_double(tile.n));
    };
    best = std::max(best, share(1));
    if (count >= std::int64_t{2} * multiprocessors) continue;
    for (const std::int64_t split : depth_splits)
      if (p.k / split >= shortest_split_depth) best = std::max(best, split_rate * share(split));
  }
  return best;
}

double alignment_factor(const MatrixProduct& p) { return std::min(aligned(alignments, p.n), aligned(alignments, p.k)); }

KernelClock::KernelClock(const Device& device, const Calibration& calibration)
    : device_(device), calibration_(calibration) {}

Seconds KernelClock::timed_product(const MatrixProduct& p, NumberFormat format, double factor,
                                   double depth_scale) const {
  if (p.m <= 0 || p.n <= 0 || p.k <= 0) return Seconds(0);
  const ProductEfficiency& efficiency = calibration_.device.product(format);
  const double depth = as_double(p.k) / (as_double(p.k) + efficiency.half_depth * depth_scale);
  const double quantisation =
      std::pow(tile_efficiency(p, device_.streaming_multiprocessors), calibration_.device.wave_exponent);
  const double rate = device_.product_peak(format).value() * efficiency.peak_fraction * factor * depth * quantisation;
  const double element = static_cast<double>(bits(format)) / 8;
  const double traffic =
      element * as_double(p.batch) *
      (as_double(p.m) * as_double(p.k) + as_double(p.k) * as_double(p.n) + as_double(p.m) * as_double(p.n));
  const Seconds arithmetic = p.flops() / FlopsPerSecond(rate);
  return std::max(arithmetic, stream(traffic)) + Seconds(calibration_.device.kernel_gap_s);
}

Seconds KernelClock::product(const MatrixProduct& p, NumberFormat format) const {
  return timed_product(
      p, format, alignment_factor(p) * (p.batch > 1 ? calibration_.device.batched_product_factor.value : 1.0), 1.0);
}

Seconds KernelClock::grouped_product(const MatrixProduct& p, NumberFormat format) const {
  return timed_product(p, format, alignment_factor(p) * calibration_.device.grouped_product_factor, 1.0);
}

Seconds KernelClock::unfused_attention(const AttentionWork& w, NumberFormat format, int products,
                                       double score_bytes) const {
  // Half of the products have the head dimension inside (scores), half outside (values); the head dimension is short
  // in both, so their depth penalty is half of a plain product's.
  const double head = aligned(head_alignments, w.qk_head_dim) * calibration_.device.batched_product_factor;
  const MatrixProduct scores{w.batch * w.heads, w.queries, w.keys, w.qk_head_dim};
  const MatrixProduct values{w.batch * w.heads, w.queries, w.v_head_dim, w.keys};
  const double each = products / 2.0;
  return each * timed_product(scores, format, head, 0.5) + each * timed_product(values, format, head, 0.5) +
         stream(w.scores() * score_bytes) + Seconds(calibration_.device.kernel_gap_s);
}

Seconds KernelClock::attention_dropout(const AttentionWork& w, Coefficient OperatorTraffic::*direction) const {
  const OperatorTraffic* measured = w.dropout ? calibration_.device.traffic(OpKind::attention) : nullptr;
  return measured == nullptr ? Seconds(0) : stream(w.scores() * (w.causal ? 0.5 : 1.0) * (measured->*direction));
}

Seconds KernelClock::fused_attention(const AttentionWork& w, NumberFormat format) const {
  const double computed = w.causal ? 0.5 : 1.0;
  const double flops = 2.0 * w.scores() * as_double(w.qk_head_dim + w.v_head_dim) * computed;
  const double length = as_double(w.queries);
  const double efficiency = calibration_.device.flash_forward_fraction * calibration_.stack.compute.flash_factor *
                            length / (length + calibration_.device.flash_half_sequence);
  const double traffic = static_cast<double>(bits(format)) / 8 * as_double(w.batch) *
                         (as_double(w.queries) * as_double(w.heads) * as_double(w.qk_head_dim + w.v_head_dim) +
                          as_double(w.keys) * as_double(w.kv_heads) * as_double(w.qk_head_dim + w.v_head_dim));
  return std::max(Flops(flops) / FlopsPerSecond(device_.product_peak(format).value() * efficiency), stream(traffic)) +
         Seconds(calibration_.device.kernel_gap_s);
}

Seconds KernelClock::attention_forward(const AttentionWork& w, FlashAttention flash, NumberFormat format) const {
  if (flash == FlashAttention::off)
    return unfused_attention(w, format, 2, calibration_.stack.compute.score_bytes_forward);
  return fused_attention(w, format) + attention_dropout(w, &OperatorTraffic::forward);
}

Seconds KernelClock::attention_backward(const AttentionWork& w, FlashAttention flash, NumberFormat format) const {
  if (flash == FlashAttention::off)
    return unfused_attention(w, format, 4, calibration_.stack.compute.score_bytes_backward);
  return flash_backward_products / calibration_.device.flash_backward_factor * fused_attention(w, format) +
         attention_dropout(w, &OperatorTraffic::backward);
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
