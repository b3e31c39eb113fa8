#pragma once
/// \file step_time.h: seconds of one training step, attributed to causes that sum to the step.
///
/// Model: the pipeline's makespan over per-stage times (pipeline_time.h), where gathered parameters (ZeRO-3) and
/// per-micro-batch gradient reductions (ZeRO-2, 3) hide behind compute as a p-norm; then what the reduction of
/// gradients leaves exposed: a stage's reduction starts when its own last backward ends, so late stages hide it behind
/// the drain of early ones; then the optimizer step and a constant per step. The busiest rank's time is attributed.
/// Source: ZeRO, arXiv:1910.02054 section 7 (volumes); the exposed-reduction objective of Mist (max over stages of
/// reduction minus the drain before it); stack calibration for exposure and overhead.
/// Not modelled: contention between pipeline and data-parallel traffic (the simulator does).
/// Checked against: tests/property/step_time_test.cpp (laws); `plan validate` (published step times).

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

/// Prices whole steps; holds no state but the machine and the recipe, and may be shared by threads.
class StepPricer {
 public:
  StepPricer(const BlockPricer& blocks, const Training& training);

  [[nodiscard]] StepTime price(const StageTable& stages, const Strategy& strategy) const;
  /// Never above `price(...)`: no sweep, no reductions; the recompute of `stages` included.
  [[nodiscard]] Picoseconds lower_bound(const StageTable& stages, const Strategy& strategy) const;
  /// What each group sends per step, on the stage that sends most.
  [[nodiscard]] std::vector<CommunicationLine> communication(const StageTable& stages, const Strategy& strategy) const;

 private:
  struct RankTimes;
  [[nodiscard]] RankTimes rank_times(const StageCost& stage, const Strategy& strategy) const;
  struct Sharing;
  [[nodiscard]] static std::array<Sharing, 2> sharings(const RankParameters& parameters, const Strategy& strategy);
  [[nodiscard]] Seconds per_unit(Collective kind, Bytes bytes, std::int64_t units, RankGroup group) const;
  [[nodiscard]] Picoseconds reduction(const StageCost& stage, const Strategy& strategy) const;
  [[nodiscard]] Picoseconds exposed_reduction(const StageTable& stages, const std::vector<RankTimes>& times,
                                              const Strategy& strategy) const;
  [[nodiscard]] Seconds optimizer_time(const StageCost& stage, const Strategy& strategy) const;
  [[nodiscard]] Picoseconds scaled(Seconds time) const;

  BlockPricer blocks_;
  Training training_;
  PrecisionFormats formats_;
};

}  // namespace plumbline
