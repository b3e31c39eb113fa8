#pragma once
/// \file host_share.h: how much of a step moves with what the host takes to launch it.
///
/// Answers a share from 0 (the device is never waited for by less than it works) to 1 (the step is launching). Model:
/// a micro-batch takes the longer of both timelines, so what is uncertain of the host's moves the step as far as it is
/// the longer one; where they are about equal, by half. With x = host / device that is x^6 / (1 + x^6) of what
/// micro-batches take of the step. The exponent says how sharply one takes over from the other: 20 % either way are
/// three quarters and a quarter. Of all ranks the one counts that the host holds up most.
/// Not modelled: launches of what happens once per step.
/// Checked against: tests/unit/core/cost/host_share_test.cpp (derivative of priced steps).

#include "core/cost/stage_cost.h"

namespace plumbline {

/// `step`: of the whole step, above zero.
[[nodiscard]] double host_share(const StageTable& stages, std::int64_t micro_batches, Picoseconds step);
/// How much longer (logarithm) a step of that share takes where the host takes one `sigma` (of the logarithm of its
/// times) longer: sigma * share while that is little, more where the host would begin to hold the device up.
[[nodiscard]] double moved_by_host(double share, double sigma);
/// The sigma that moves a step of that share so far; `share` above 0.
[[nodiscard]] double host_sigma_that_moves(double share, double moved);

}  // namespace plumbline
