#include "kernels/step_decision.h"

#include <cmath>

namespace plumbline::reference {

void decide_step(const DecideStep& args) {
  double squares = 0;
  bool is_finite = true;
  for (std::int64_t rank = 0; rank < args.count; ++rank) {
    const StepTotals& totals = args.ranks[rank];
    squares += totals.gradients.sum_of_squares;
    is_finite = is_finite && totals.gradients.has_non_finite == 0 && std::isfinite(totals.loss.sum);
  }
  StepState& state = *args.state;
  const double scale = state.loss_scale.scale;
  const double norm = std::sqrt(squares) / scale;
  const double clip = args.clip_norm > 0 && norm > args.clip_norm ? args.clip_norm / norm : 1.0;
  const bool is_taken = is_finite && std::isfinite(squares);
  *args.decision = {static_cast<float>(clip / scale), is_taken ? 1 : 0, state.updates + 1};
  state = {next_loss_scale(args.rule, state.loss_scale, is_taken), state.updates + (is_taken ? 1 : 0)};
}

}  // namespace plumbline::reference
