#include "runtime/training/early_stopping.h"

#include <cmath>

namespace plumbline {

bool EarlyStopping::ends_with(double held_out_loss) {
  const bool improves = state_.lowest ? held_out_loss < *state_.lowest : std::isfinite(held_out_loss);
  if (improves) state_.lowest = held_out_loss;
  state_.without_improvement = improves ? 0 : state_.without_improvement + 1;
  return patience_ > 0 && state_.without_improvement >= patience_;
}

}  // namespace plumbline
