#include "core/program/fitted_zero_bubble.h"

#include <algorithm>

#include "core/program/zero_bubble_fitter.h"

namespace plumbline {

std::optional<ComputeSchedule> fitted_zero_bubble(std::int32_t p, std::int32_t m, const FittedZeroBubble& costs) {
  const StageTimes times = equal_stages(p, costs.forward, costs.backward_input, costs.backward_weight, costs.latency);
  std::optional<ComputeSchedule> best;
  Picoseconds least = Picoseconds::largest();
  for (int bits = 7; bits >= 0; --bits) {
    const FitterVariant variant{(bits & 4) != 0, (bits & 2) != 0, (bits & 1) != 0};
    auto orders = ZeroBubbleFitter(p, m, costs, variant).run();
    if (!orders) continue;
    ComputeSchedule schedule{{p, 1, m}, StagePlacement::looped, std::move(*orders)};
    const Picoseconds span = order_timing(dry_run(schedule), times).longest_rank();
    if (span >= least) continue;
    least = span;
    best = std::move(schedule);
  }
  return best;
}

}  // namespace plumbline
