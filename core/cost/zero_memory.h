#pragma once
/// \file zero_memory.h: bytes that one pipeline rank holds, for plans that differ in ZeRO stage and shard group only.
///
/// Answers what stage_memory.h answers. What depends on the rest of a plan (padded parameters, the largest units,
/// communicators) is worked out once: a search asks for every ZeRO stage and shard group of thousands of plans.
/// Model, source, what is not modelled and what it is checked against: see stage_memory.h, which is this for one plan.

#include "core/cost/stage_memory.h"

namespace plumbline {

class ZeroMemory {
 public:
  /// `stage` must outlive it. `load`: `rank_load` of the rank.
  ZeroMemory(const StageCost& stage, const PeakLoads& load, const Strategy& family);

  [[nodiscard]] MemoryBreakdown of(const Strategy& strategy, const PrecisionFormats& formats, Optimizer optimizer,
                                   const StackCalibration& stack) const;

 private:
  const StageCost* stage_;
  PeakLoads load_;
  RankParameters held_;  ///< padded
  WholeUnits most_;
  std::int64_t groups_;  ///< of more than one rank
};

}  // namespace plumbline
