#pragma once
/// \file step_time.h: seconds of one training step, attributed to causes that sum to the step.
///
/// Model: the pipeline's order simulated over the times of each stage, chunk by chunk (pipeline_time.h), where gathers
/// (ZeRO-3) and per-micro-batch reductions (ZeRO-2, 3) run alongside compute (overlap.h) but for the first unit's
/// gather and the last unit's reduction; or gradients wait for their chunk's last backward (ShardedGradients) and are
/// reduced behind it. What happens once per step is simulated with it: updated weights gathered alongside the first
/// forward (ZeRO-1, 2), gradients reduced bucket by bucket alongside the last backward, and what is left after it. The
/// busiest rank's time is attributed; what the step would not take without the terms of once per step counts as data
/// parallelism. Of a reduction the stack leaves its `data_parallel_exposure` in a step with a long backward: what
/// overlap costs, and the rest because that share cannot start before the backward has ended; where interleaved chunks
/// are a bucket each (GradientBucketsOf), the first chunk's alone.
///
/// After the optimizer step come a constant and the wait for the slowest rank. Hosts pause now and then (garbage
/// collection, data loading, the operating system). If the delays of N ranks are exponential with mean d, the slowest
/// is about d ln N later than a single one.
///
/// With post-validation (arXiv:2401.10241, section 4) ranks of zero-bubble schedules do not wait for each other between
/// steps: a step takes the longest that a rank takes from its own begin, and the slowest optimizer.
///
/// Messages between two stages take what their boundary takes (stage_links.h).
///
/// In a mixed cluster each stage takes the kernels and links of its own site (core/machine/sites.h), messages between
/// stages the links of both, and the tied embedding those of the whole cluster.
///
/// What no other term of a stack explains (`step_factor`) multiplies what blocks take: their kernels, and the
/// collectives between those, whose exposed shares were fitted with it. It does not multiply gathers and reductions of
/// sharded states, nor messages between stages: a stack that computes slower sends no slower, and the exposed part of a
/// transfer is at most the transfer.
///
/// Schedules that split the backward defer what block_cost.h prices for weight gradients. Sharded states (ZeRO-2, 3)
/// are copied between the buffers of collectives and tensors where the stack does so, and gathered and reduced unit by
/// unit, or tensor by tensor with the host's time for every rank's segment (DeepSpeed 0.4.5,
/// runtime/zero/partition_parameters.py). Where a framework keeps books of each sharded tensor in Python, a micro-batch
/// takes at least what the host takes to launch it and to keep them (DeepSpeed, runtime/zero/parameter_offload.py).
///
/// Source: ZeRO, arXiv:1910.02054 section 7 (volumes); stack calibration for exposure, slowdown, bucket and overhead;
/// A. Renyi, "On the theory of order statistics", 1953 (the slowest of N); Megatron-LM, --manual-gc, and MegaScale,
/// arXiv:2402.15627, section 6.3 (pauses of hosts).
/// Not modelled: contention between pipeline and data-parallel traffic (the simulation does); steps that
/// post-validation does again; post-validation with tied embeddings, whose sum makes all ranks wait here.
/// Checked against: tests/property/step_time_test.cpp (laws); simulation_agreement_test.cpp (the same terms simulated);
/// tests/reference/korthikanti_step_time_test.cpp (8 published steps, mean 3 %, worst 6 %).

#include <span>
#include <utility>
#include <vector>

#include "core/cost/stage_cost.h"
#include "core/cost/stage_links.h"
#include "core/cost/state_sharing.h"
#include "core/plan/estimate.h"
#include "core/training/training.h"

namespace plumbline {

class ChunkTimes;

struct StepTime {
  TimeBreakdown breakdown;
  [[nodiscard]] Picoseconds total() const { return breakdown.total(); }
};

/// What a micro-batch takes on one rank or one of its stages, with what sharding states leaves exposed folded in.
struct RankTimes {
  Picoseconds forward{0};
  Picoseconds backward{0};
  // Where a schedule splits the backward; both together take longer than `backward` where less hides alongside each.
  Picoseconds backward_input{0};
  Picoseconds backward_weight{0};
  Picoseconds accumulation{0};  ///< of backward: adding gradients up, copying them into what is reduced
  /// Of forward and of backward: gathered parameters into their tensors, and waiting for the host's work on each.
  Picoseconds copying{0};
  Picoseconds gather_forward{0};   ///< of forward: what gathering parameters leaves exposed
  Picoseconds gather_backward{0};  ///< of backward: the same
  Picoseconds scatter{0};          ///< of backward: what reducing gradients leaves exposed
  /// Once per step, of gradients that wait for their chunk's last backward: copying them into what is reduced.
  Picoseconds scattered_once{0};
  [[nodiscard]] Picoseconds sharding() const { return gather_forward + gather_backward + scatter; }
};

/// What prices blocks on each site of a cluster (core/machine/sites.h), the whole cluster first.
class SitePricers {
 public:
  explicit SitePricers(std::vector<BlockPricer> sites) : sites_(std::move(sites)) {}

  [[nodiscard]] const BlockPricer& whole() const { return sites_.front(); }
  [[nodiscard]] const BlockPricer& operator[](std::int32_t site) const {
    return sites_[static_cast<std::size_t>(site)];
  }

 private:
  std::vector<BlockPricer> sites_;
};

/// Prices whole steps; holds no state but the machine and the recipe, and may be shared by threads.
class StepPricer {
 public:
  StepPricer(const BlockPricer& blocks, const Training& training);
  /// `sites`: by site of the cluster, the whole cluster first.
  StepPricer(std::vector<BlockPricer> sites, const Training& training);

  [[nodiscard]] StepTime price(const StageTable& stages, const Strategy& strategy) const;
  enum class Sweep : std::uint8_t { whole, left_out };
  /// The total of `price` alone: the pipeline is swept once, not twice; or, where the sweep is left out, a time that is
  /// never above it, with what happens once per step, in a fraction of the time.
  /// `replay`: with the sweep left out, what the backwards of each rank compute longer per micro-batch, on whichever of
  /// its chunks. That may hide what a backward leaves exposed of sending states; where a device waits for its host,
  /// which it may hide too, it is left out.
  [[nodiscard]] Picoseconds total(const StageTable& stages, const Strategy& strategy, Sweep sweep = Sweep::whole,
                                  std::span<const Picoseconds> replay = {}) const;
  /// Never above `price(...)`: no sweep, no reductions; the recompute of `stages` included.
  [[nodiscard]] Picoseconds lower_bound(const StageTable& stages, const Strategy& strategy) const;
  /// What each group sends per step, on the stage that sends most.
  [[nodiscard]] std::vector<CommunicationLine> communication(const StageTable& stages, const Strategy& strategy) const;

  // The terms of `price`, for those who simulate the step action by action.
  [[nodiscard]] RankTimes rank_times(const StageCost& stage, const Strategy& strategy) const;
  /// By pipeline rank; without a pipeline one that takes no time.
  [[nodiscard]] std::vector<StageLink> links(const StageTable& stages, const Strategy& strategy) const;
  [[nodiscard]] SharingTimes sharing_times(const StageCost& stage, const Strategy& strategy) const;
  [[nodiscard]] ReductionRule reduction_rule(const StageSizes& stage, const Strategy& strategy) const;
  /// What is exposed of the sum over both copies of a tied embedding, on the first and the last rank; 0 without.
  [[nodiscard]] Picoseconds tied_reduction(const StageTable& stages, const Strategy& strategy) const;
  /// With the gathers of an optimizer that needs whole matrices.
  [[nodiscard]] Picoseconds optimizer(const StageCost& stage, const Strategy& strategy) const;
  /// Of a rank's bytes, there or back, while nothing else uses its link.
  [[nodiscard]] Picoseconds copy_to_host(Bytes bytes, std::int32_t site) const;
  /// What a step takes besides its actions: the same for all strategies.
  [[nodiscard]] Picoseconds overhead() const;
  /// Whether a rank updates its weights and begins its next step before others have ended this one.
  [[nodiscard]] bool steps_early(const StageTable& stages, const Strategy& strategy) const;
  [[nodiscard]] SharingBytes sharing_bytes(const RankParameters& parameters, const Strategy& strategy) const;
  [[nodiscard]] Bytes tied_bytes(const StageTable& stages, const Strategy& strategy) const;
  /// Whether messages between any two stages and what shares states leave a node over the same network cards.
  [[nodiscard]] bool shares_network(const Strategy& strategy) const;

 private:
  struct Terms;
  [[nodiscard]] Terms terms(const StageTable& stages, const Strategy& strategy) const;
  /// A collective that shares states: over as many network cards as the stack makes use of.
  [[nodiscard]] Seconds sharing_time(Collective kind, Bytes bytes, RankGroup group, std::int32_t site) const;
  [[nodiscard]] Seconds matrix_gather_time(const StageCost& stage, const Strategy& strategy) const;
  /// Over `group`, of states of this axis.
  [[nodiscard]] Seconds sharded_time(Collective kind, Bytes bytes, const StageCost& stage, Axis axis,
                                     RankGroup group) const;
  /// Accumulation and copies of `stage`, a part of `rank`.
  void add_state_traffic(RankTimes& times, const StageCost& stage, const StageCost& rank, const Strategy& s) const;
  /// `of_rank`: the rank's communication to share its states.
  [[nodiscard]] RankTimes stage_times(const StageCost& stage, const StageCost& rank, const SharingTimes& of_rank,
                                      const Strategy& strategy) const;
  /// When all gradients are reduced, with what happens once per step.
  [[nodiscard]] Picoseconds reduced(const StageTable& stages, const std::vector<RankTimes>& times,
                                    const std::vector<SharingTimes>& shared, ChunkTimes& chunks,
                                    const Strategy& strategy, Sweep sweep) const;
  /// Of kernels, with what the stack's step factor adds.
  [[nodiscard]] Picoseconds scaled(Seconds time) const;

  SitePricers sites_;
  Training training_;
  PrecisionFormats formats_;
};

}  // namespace plumbline
