#pragma once
/// \file pipeline_time.h: makespan of one step's micro-batches over unequal pipeline stages.
///
/// Model: rank s takes forward[s] and backward[s] per micro-batch; a result reaches the neighbour latency[s] later
/// without occupying either rank; micro-batches keep their order. Global makespan: all ranks wait for the slowest.
/// * GPipe: sum f + sum b + (m - 1)(max f + max b) + 2 sum c, exact for this model.
/// * 1F1B: the exact order, wave by wave, in O(p (m + p)) integer steps; not the textbook sum + (m - 1) max, which is
///   off by up to 25 % for unequal stages.
/// * Interleaved: the largest over ranks of fill + work + drain with chunk times; exact for equal chunks without
///   latency when p divides m; a lower bound while the chunks of each rank are alike; where a rank's own chunks differ
///   (uneven splits) their mean stands in, up to 5 % off either way. The simulator sharpens it.
/// * ZB-H1, ZB-H2, ZBV, V-Half, DualPipeV: their order evaluated action by action (order_makespan.h), exact for uneven
///   ranks and latencies too, in O(p m v); chunks of a rank take equal parts. The search does not ask for them.
/// Source: arXiv:1811.06965; arXiv:2104.04473 section 2.2; the order of Megatron-LM's schedules; arXiv:2401.10241.
/// Not modelled: sends that block the sender.
/// Checked against: tests/reference/pipeline_makespan_test.cpp (oracles by exhaustive longest path, exact).

#include <span>

#include "core/plan/strategy.h"
#include "core/quantity/quantity.h"

namespace plumbline {

struct PipelineTimes {
  std::span<const Picoseconds> forward;  ///< per rank and micro-batch
  std::span<const Picoseconds> backward;
  std::span<const Picoseconds> latency;  ///< between rank s and s + 1: one fewer than ranks
  /// The part of `backward` that makes weight gradients; used by schedules that split it. Empty: half.
  std::span<const Picoseconds> backward_weight = {};
};

[[nodiscard]] Picoseconds gpipe_makespan(const PipelineTimes& times, std::int64_t micro_batches);
[[nodiscard]] Picoseconds one_f_one_b_makespan(const PipelineTimes& times, std::int64_t micro_batches);
/// `forward` and `backward` of a rank are the sums over its virtual stages.
[[nodiscard]] Picoseconds interleaved_makespan(const PipelineTimes& times, std::int64_t micro_batches,
                                               std::int64_t virtual_stages);
[[nodiscard]] Picoseconds pipeline_makespan(Schedule schedule, const PipelineTimes& times, std::int64_t micro_batches,
                                            std::int64_t virtual_stages);

/// Equal ranks without latency, b = input gradient: m (f + b + w) + (p - 1)(f + b - w) with a barrier, for w <= f, w <=
/// b and m >= 2 p (ZB-H1); m (f + b + w) + (p - 1)(f + b - 2 w) without one, for f = b and w <= b, m >= 2 p (ZB-H2).
/// Source: arXiv:2401.10241 section 2.
[[nodiscard]] Picoseconds zb_h1_equal_makespan(std::int64_t pipeline_stages, std::int64_t micro_batches,
                                               Picoseconds forward, Picoseconds backward_input,
                                               Picoseconds backward_weight);
[[nodiscard]] Picoseconds zb_h2_equal_period(std::int64_t pipeline_stages, std::int64_t micro_batches,
                                             Picoseconds forward, Picoseconds backward_input,
                                             Picoseconds backward_weight);

/// Never above the makespan of any schedule here: the busiest rank's work with the fill before and the drain after it.
[[nodiscard]] Picoseconds pipeline_lower_bound(Schedule schedule, const PipelineTimes& times,
                                               std::int64_t micro_batches, std::int64_t virtual_stages);

}  // namespace plumbline
