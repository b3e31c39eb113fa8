#pragma once
/// \file chunk_times.h: the times of all stages of a plan as the order of its schedule takes them.
///
/// Answers: the input of pipeline_time.h, in picoseconds per micro-batch and once per step.
/// Model: compute, exposed collectives, recompute, and what sharding leaves exposed, stage by stage (step_time.h).
/// Source: step_time.h. Not modelled: what depends on the schedule (pipeline_time.h).
/// Checked against: tests/property/simulation_agreement_test.cpp (the same plans, action by action).

#include <vector>

#include "core/cost/pipeline_time.h"
#include "core/cost/step_time.h"

namespace plumbline {

class ChunkTimes {
 public:
  /// `of_stage`: in the order of the network; `links`: by pipeline rank.
  ChunkTimes(const std::vector<RankTimes>& of_stage, const std::vector<StageLink>& links, const Strategy& strategy);

  /// What a rank takes once per step besides: before its first forward, and on each of its chunks.
  void add_once(std::size_t rank, Picoseconds start, const std::vector<OnceTimes>& of_chunk);
  /// What the backwards of each rank take longer per micro-batch, for `least_ends`. Outlives this.
  void set_replay(std::span<const Picoseconds> of_rank) { replay_ = of_rank; }
  /// Ranks begin their next step when they have ended their own (post-validation).
  void count_from_own_begin() { from_own_begin_ = true; }
  /// How what is reduced alongside the last backwards slows others; see PipelineTimes.
  /// `reduces_over_network`: as messages do whose link leaves a node.
  void set_contention(double slowdown, bool reduces_over_network, bool gathers);
  /// Points into this object.
  [[nodiscard]] PipelineTimes times() const {
    return {.forward = forward_,
            .backward = backward_,
            .latency = latency_,
            .backward_weight = backward_weight_,
            .wrap = wrap_,
            .start = start_,
            .once = once_,
            .backward_input = backward_input_,
            .slowdown = slowdown_,
            .shares_link = shares_link_,
            .gathers = gathers_,
            .from_own_begin = from_own_begin_,
            .link_loads = link_loads_,
            .replay = replay_};
  }

 private:
  const Strategy* strategy_;
  double slowdown_ = 0;
  bool gathers_ = false;
  bool from_own_begin_ = false;
  std::vector<Picoseconds> forward_;
  std::vector<Picoseconds> backward_;
  std::vector<Picoseconds> backward_input_;
  std::vector<Picoseconds> backward_weight_;
  std::vector<Picoseconds> latency_;
  Picoseconds wrap_{0};
  std::vector<Picoseconds> link_loads_;    ///< by pipeline rank
  std::vector<std::uint8_t> leaves_node_;  ///< by pipeline rank, of its link
  std::vector<std::uint8_t> shares_link_;  ///< the same, where reductions leave the node too; else empty
  std::vector<Picoseconds> start_;         ///< per rank
  std::vector<OnceTimes> once_;            ///< per stage
  std::span<const Picoseconds> replay_;    ///< per rank
};

}  // namespace plumbline
