#include "core/cost/host_share.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

constexpr double sharpness = 6;

}  // namespace

double host_share(const StageTable& stages, std::int64_t micro_batches, Picoseconds step) {
  double most = 0;
  if (step <= Picoseconds(0)) return most;
  for (const StageCost& stage : stages.distinct()) {
    const double host = to_seconds(stage.host_forward + stage.host_backward).value();
    const double device =
        to_seconds(stage.forward.total() + stage.backward.total() + stage.recompute.total() + stage.copies.total())
            .value();
    if (host <= 0) continue;
    const double slower = std::max(host, device);
    const double of_step = static_cast<double>(micro_batches) * slower / to_seconds(step).value();
    const double held_up = 1 / (1 + std::pow(device / host, sharpness));
    most = std::max(most, held_up * std::min(1.0, of_step));
  }
  return most;
}

double moved_by_host(double share, double sigma) {
  return std::log1p(share * std::expm1(sharpness * sigma)) / sharpness;
}

double host_sigma_that_moves(double share, double moved) {
  return std::log1p(std::expm1(sharpness * moved) / share) / sharpness;
}

}  // namespace plumbline
