#pragma once
/// \file step_time.h: seconds of one training step, attributed to causes that sum to the step.
///
/// Model: the pipeline's makespan over per-stage times (pipeline_time.h), where gathered parameters (ZeRO-3) and
/// per-micro-batch gradient reductions (ZeRO-2, 3) hide behind compute as a p-norm; then what the reduction of
/// gradients leaves exposed: the stack's share, or less where a long backward and forward hide it. A stage's reduction
/// starts when its own last backward ends, so late stages hide it behind the drain of early ones. Then the optimizer
/// step and a constant per step. The busiest rank's time is attributed.
/// Source: ZeRO, arXiv:1910.02054 section 7 (volumes); the exposed-reduction objective of Mist (max over stages of
/// reduction minus the drain before it); stack calibration for exposure and overhead.
/// Schedules that split the backward: half of its compute is taken as weight gradients (exact for products; attention
/// has none), and no reduction hides behind a drain.
/// Not modelled: contention between pipeline and data-parallel traffic.
/// Checked against: tests/property/step_time_test.cpp (laws); simulation_agreement_test.cpp (the same terms played);
/// tests/reference/korthikanti_step_time_test.cpp (8 published steps, mean 3 %, worst 6 %).

#include <array>
#include <vector>

#include "core/cost/stage_cost.h"
#include "core/plan/estimate.h"
#include "core/training/training.h"

namespace plumbline {

struct StepTime {
  TimeBreakdown breakdown;
  [[nodiscard]] Picoseconds total() const { return breakdown.total(); }
};

/// What one rank's micro-batch takes, with what sharding its states leaves exposed folded in.
struct RankTimes {
  Picoseconds forward{0};
  Picoseconds backward{0};
  Picoseconds hop{0};              ///< until what this rank waits for arrives
  Picoseconds accumulation{0};     ///< of backward: adding gradients up
  Picoseconds gather_forward{0};   ///< of forward: what gathering parameters leaves exposed
  Picoseconds gather_backward{0};  ///< of backward: the same
  Picoseconds scatter{0};          ///< of backward: what reducing gradients leaves exposed
  [[nodiscard]] Picoseconds sharding() const { return gather_forward + gather_backward + scatter; }
};

/// What one rank sends to share its states.
struct SharingBytes {
  Bytes gather{0};     ///< per pass of a micro-batch: sharded parameters
  Bytes scatter{0};    ///< per micro-batch: gradients
  Bytes reduction{0};  ///< per step: what is left after the last backward
};

/// Prices whole steps; holds no state but the machine and the recipe, and may be shared by threads.
class StepPricer {
 public:
  StepPricer(const BlockPricer& blocks, const Training& training);

  [[nodiscard]] StepTime price(const StageTable& stages, const Strategy& strategy) const;
  /// Never above `price(...)`: no sweep, no reductions; the recompute of `stages` included.
  [[nodiscard]] Picoseconds lower_bound(const StageTable& stages, const Strategy& strategy) const;
  /// What each group sends per step, on the stage that sends most.
  [[nodiscard]] std::vector<CommunicationLine> communication(const StageTable& stages, const Strategy& strategy) const;

  // The terms of `price`, for those who play the step action by action.
  [[nodiscard]] RankTimes rank_times(const StageCost& stage, const Strategy& strategy) const;
  /// What the reduction after a rank's last backward leaves exposed.
  [[nodiscard]] Picoseconds exposed_reduction(const StageCost& stage, const Strategy& strategy) const;
  /// The same for the sum over both copies of a tied embedding, on the first and the last rank; 0 without.
  [[nodiscard]] Picoseconds tied_reduction(const StageTable& stages, const Strategy& strategy) const;
  [[nodiscard]] Picoseconds optimizer(const StageCost& stage, const Strategy& strategy) const;
  [[nodiscard]] Picoseconds overhead() const;
  [[nodiscard]] SharingBytes sharing_bytes(const StageCost& stage, const Strategy& strategy) const;
  [[nodiscard]] Bytes tied_bytes(const StageTable& stages, const Strategy& strategy) const;

 private:
  struct Sharing;
  [[nodiscard]] static std::array<Sharing, 2> sharings(const RankParameters& parameters, const Strategy& strategy);
  [[nodiscard]] Seconds per_unit(Collective kind, Bytes bytes, std::int64_t units, RankGroup group) const;
  struct Reduction;
  [[nodiscard]] Reduction reduction(const StageCost& stage, const Strategy& strategy) const;
  [[nodiscard]] Picoseconds exposed(const Reduction& reduction, const RankTimes& rank) const;
  [[nodiscard]] Picoseconds worst_reduction(const StageTable& stages, const std::vector<RankTimes>& times,
                                            const Strategy& strategy) const;
  [[nodiscard]] Seconds optimizer_time(const StageCost& stage, const Strategy& strategy) const;
  [[nodiscard]] Picoseconds scaled(Seconds time) const;

  BlockPricer blocks_;
  Training training_;
  PrecisionFormats formats_;
};

}  // namespace plumbline
