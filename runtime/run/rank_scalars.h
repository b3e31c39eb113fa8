#pragma once
/// \file rank_scalars.h: what every rank says at the end of a step, and what follows from all of it.
///
/// Model: sums in the order of the ranks, as the device adds them (kernels/step_decision.h).
/// Checked against: tests/cuda/step_waits_test.cpp (host and device agree on what is skipped), tests/runtime/execution.

#include <optional>
#include <span>
#include <vector>

#include "kernels/step_decision.h"
#include "runtime/execution/rank_groups.h"

namespace plumbline {

struct RankScalars {
  double loss = 0;
  double tokens = 0;
  double sum_of_squares = 0;
  double has_non_finite = 0;
  double stop_signal = 0;  ///< 0: none
};

/// Of the last step, by rank. Every tensor-parallel rank computes the whole loss of its tokens: one of them counts.
[[nodiscard]] std::vector<RankScalars> scalars_by_rank(std::span<const StepTotals> ranks, const Strategy& strategy);
/// By rank. Every rank of `everyone` calls it.
[[nodiscard]] std::vector<RankScalars> all_scalars(Communicator& everyone, const RankScalars& own);
/// The first rank whose loss, gradients or state are not finite.
[[nodiscard]] std::optional<std::int32_t> first_non_finite(const std::vector<RankScalars>& all);
/// The largest of signals.
[[nodiscard]] RankScalars sum_of(const std::vector<RankScalars>& all);

}  // namespace plumbline
