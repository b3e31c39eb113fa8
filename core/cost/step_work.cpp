#include "core/cost/step_work.h"

#include "core/cost/time_limits.h"

namespace plumbline {

bool has_too_much_work(const std::vector<RankTimes>& times, const std::vector<StageLink>& links,
                       const std::vector<SharingTimes>& shared, const Strategy& s) {
  double once = 0;
  for (const SharingTimes& of_rank : shared)
    once += static_cast<double>(of_rank.update.value()) + static_cast<double>(of_rank.reduction.value());
  double per_micro_batch = 0;
  for (const RankTimes& t : times)
    for (const Picoseconds part : {t.forward, t.backward, t.backward_input, t.backward_weight})
      per_micro_batch += static_cast<double>(part.value());
  for (const StageLink& link : links) per_micro_batch += 2. * s.virtual_stages * static_cast<double>(link.hop.value());
  return static_cast<double>(s.micro_batches) * per_micro_batch + s.pipeline_stages * once >
         static_cast<double>(most_work.value());
}

StepTime longer_than_any() {
  StepTime result;
  result.breakdown[TimeCause::compute] = most_work;
  return result;
}

}  // namespace plumbline
