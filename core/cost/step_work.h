#pragma once
/// \file step_work.h: whether a step's work is more than integer picoseconds are sure to hold.
///
/// Answers yes or no. Model: what all ranks do in a step, one after another, summed in floating point: nothing that is
/// simulated over these times ends later. Source: time_limits.h. Not modelled: by how much.
/// Checked against: tests/integration/extremes_test.py.

#include <vector>

#include "core/cost/step_time.h"

namespace plumbline {

/// `times`: of all stages; `links`: by pipeline rank, of which each carries a message there and back for every chunk;
/// `shared`: of all ranks that differ.
[[nodiscard]] bool has_too_much_work(const std::vector<RankTimes>& times, const std::vector<StageLink>& links,
                                     const std::vector<SharingTimes>& shared, const Strategy& strategy);
/// The answer in place of one that cannot be simulated.
[[nodiscard]] StepTime longer_than_any();

}  // namespace plumbline
