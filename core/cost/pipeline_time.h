#pragma once
/// \file pipeline_time.h: when each rank has ended one step's micro-batches, over unequal pipeline stages.
///
/// Model: a stage takes forward[s] and backward[s] per micro-batch; micro-batches keep their order; global makespan:
/// all ranks wait for the slowest. What a rank receives for its first chunk in a direction is latency[r] on its way and
/// occupies neither rank; for its later chunks the receiver waits that time out (Handover, core/program/program.h).
/// Every boundary has its own latency, and the ranks at its ends wait until it has carried all messages of the step.
/// * GPipe: sum f + sum b + (m - 1)(max f + max b) + 2 sum c, exact for this model; micro-batch by micro-batch where
///   the first or the last one differs.
/// * 1F1B: the exact order, wave by wave, in O(p (m + p)) integer steps; not the textbook sum + (m - 1) max, which is
///   off by up to 25 % for unequal stages.
/// * Interleaved: the exact order, wave by wave, in O(p (m v + 3 p)) integer steps, for uneven chunks and any latency.
///   Of both, waves are left out once the clocks have become periodic (steady_clocks.h), exactly.
/// * ZB-H1, ZB-H2, ZBV, V-Half, DualPipeV: their order evaluated action by action (order_makespan.h), exact too, in
///   O(p m v). Where ranks do not wait for each other between steps, from each rank's own begin: an upper bound of the
///   period of endless steps (arXiv:2401.10241, section 5: the largest execution time of a stage).
/// Source: arXiv:1811.06965; arXiv:2104.04473 section 2.2; the order of Megatron-LM's schedules; arXiv:2401.10241.
/// Not modelled: sends that block the sender.
/// Checked against: tests/reference/pipeline_makespan_test.cpp (oracles by exhaustive longest path, exact);
/// tests/property/pipeline_time_test.cpp (longest path of random instances, exact).

#include <span>
#include <vector>

#include "core/plan/strategy.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// What the first and the last micro-batch take alongside the others, once per step; a part may be negative.
struct OnceTimes {
  Picoseconds forward{0};    ///< the first forward takes longer
  Picoseconds gathering{0};  ///< the rank waits after it, while the result is on its way
  Picoseconds backward{0};   ///< the last backward takes longer
  Picoseconds reducing{
      0};  ///< from its begin until what is reduced alongside it is, unless the stream is still at work
  Picoseconds scattering{0};  ///< the rank waits after it, while its gradient is on its way
  Picoseconds arriving{0};    ///< behind `gathering`, until the first forward of its next chunk may begin
};

/// Whose link joins two pipeline ranks: neighbours the later rank's; the last and the first of more than two, the
/// first's.
[[nodiscard]] constexpr std::size_t link_between(std::int32_t rank, std::int32_t other) {
  const std::int32_t later = rank > other ? rank : other;
  const std::int32_t earlier = rank > other ? other : rank;
  return static_cast<std::size_t>(later - earlier > 1 ? 0 : later);
}

struct PipelineTimes {
  /// Per stage of the network and micro-batch: of ranks with several chunks, chunk by chunk.
  std::span<const Picoseconds> forward;
  std::span<const Picoseconds> backward;
  std::span<const Picoseconds> latency;  ///< between rank r and r + 1: one fewer than ranks
  /// The part of `backward` that makes weight gradients; used by schedules that split it. Empty: half.
  std::span<const Picoseconds> backward_weight = {};
  /// Between the last rank and the first, where looped chunks follow each other; of two ranks their one latency.
  Picoseconds wrap{0};
  std::span<const Picoseconds> start = {};  ///< per rank, before its first forward; empty: none
  std::span<const OnceTimes> once = {};     ///< per stage; empty: nothing
  /// A backward split off its weight gradients; empty: the rest of `backward`.
  std::span<const Picoseconds> backward_input = {};
  double slowdown = 0;  ///< of a pass alongside what its rank still gathers or reduces of another chunk
  /// Per rank: whether messages between it and the rank before it, of the first rank those round the loop, take twice
  /// as long alongside what their sender still reduces; empty: none do.
  std::span<const std::uint8_t> shares_link = {};
  bool gathers = false;  ///< a backward begins with a gather, behind what its rank still reduces of another chunk
  bool from_own_begin = false;  ///< split backwards: each rank's end counts from its own begin, not from the first
  /// Per rank, of the link to the rank before it, of the first rank round the loop: how long it carries messages, the
  /// directions beside each other or, under GPipe, one after the other; empty: no time.
  std::span<const Picoseconds> link_loads = {};
  /// Per rank, of `least_ends`: what its backwards of one micro-batch take longer together than they are said to, on
  /// whichever of its chunks; empty: nothing.
  std::span<const Picoseconds> replay = {};
  bool leaves_out_rounds = true;  ///< of 1F1B and interleaving, once they are periodic; the answer is the same

  /// Of a message between two ranks that exchange any.
  [[nodiscard]] Picoseconds hop(std::int32_t rank, std::int32_t other) const {
    if (rank == other) return Picoseconds(0);
    const std::size_t link = link_between(rank, other);
    return link > 0 ? latency[link - 1] : wrap;
  }
};

/// When each rank has ended its last micro-batch and what is reduced alongside it, from the step's begin or its own.
[[nodiscard]] std::vector<Picoseconds> pipeline_ends(Schedule schedule, const PipelineTimes& times,
                                                     std::int64_t micro_batches, std::int64_t virtual_stages);
/// Ranks at the ends of a link end no earlier than it has carried what it carries.
void wait_for_links(std::vector<Picoseconds>& ends, std::span<const Picoseconds> loads);
/// None later than those, in O(p v): each rank from the first forward that reaches it on, without waiting.
[[nodiscard]] std::vector<Picoseconds> least_ends(Schedule schedule, const PipelineTimes& times,
                                                  std::int64_t micro_batches, std::int64_t virtual_stages);
[[nodiscard]] std::vector<Picoseconds> interleaved_ends(const PipelineTimes& times, std::int64_t micro_batches,
                                                        std::int64_t virtual_stages);
[[nodiscard]] Picoseconds one_f_one_b_makespan(const PipelineTimes& times, std::int64_t micro_batches);

}  // namespace plumbline
