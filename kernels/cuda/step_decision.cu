#include "kernels/step_decision.h"

#include <cfloat>
#include <cmath>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

__device__ __forceinline__ bool is_finite(double value) { return fabs(value) <= DBL_MAX; }

/// One thread: as many additions as there are ranks, in their order.
__global__ void decide(DecideStep args) {
  double squares = 0;
  bool all_finite = true;
  for (std::int64_t rank = 0; rank < args.count; ++rank) {
    const StepTotals& totals = args.ranks[rank];
    squares += totals.gradients.sum_of_squares;
    all_finite = all_finite && totals.gradients.has_non_finite == 0 && is_finite(totals.loss.sum);
  }
  StepState& state = *args.state;
  const double scale = state.loss_scale.scale;
  const double norm = sqrt(squares) / scale;
  const double clip = args.clip_norm > 0 && norm > args.clip_norm ? args.clip_norm / norm : 1.0;
  const bool is_taken = all_finite && is_finite(squares);
  *args.decision = {static_cast<float>(clip / scale), is_taken ? 1 : 0, state.updates + 1};
  state = {next_loss_scale(args.rule, state.loss_scale, is_taken), state.updates + (is_taken ? 1 : 0)};
}

}  // namespace

void decide_step(const DecideStep& args, cudaStream_t stream) {
  launch("decide_step", {.grid = dim3(1), .block = dim3(1)}, stream, decide, args);
}

}  // namespace plumbline::cuda
