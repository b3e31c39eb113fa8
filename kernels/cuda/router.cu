// A warp takes a token: its lanes take every 32nd expert.
#include <cmath>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

constexpr std::int64_t most_experts = 512;  // as reference::most_experts
constexpr int most_per_lane = most_experts / lanes;
constexpr int tokens_per_block = block_threads / lanes;

__device__ __forceinline__ std::int64_t token_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * tokens_per_block + threadIdx.x / lanes;
}

__global__ void __launch_bounds__(block_threads) router_softmax(RouterForward args) {
  const std::int64_t token = token_of_warp();
  if (token >= args.logits.rows) return;
  const std::int64_t experts = args.logits.columns;
  const std::int64_t lane = threadIdx.x % lanes;
  float top = -__uint_as_float(0x7f800000U);
  for (std::int64_t e = lane; e < experts; e += lanes) top = Maximum{}(top, load(args.logits, token, e));
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    top = Maximum{}(top, __shfl_xor_sync(all_lanes, top, distance));
  float sum = 0;
  for (std::int64_t e = lane; e < experts; e += lanes) sum += expf(load(args.logits, token, e) - top);
  const float inverse = 1.0F / warp_sum(sum);
  for (std::int64_t e = lane; e < experts; e += lanes)
    store(args.probabilities, token, e, expf(load(args.logits, token, e) - top) * inverse);
}

struct Candidate {
  float probability = 0;
  int expert = -1;
};

/// The more probable, the lower expert among equals; no expert loses against any.
__device__ __forceinline__ Candidate better_of(const Candidate& a, const Candidate& b) {
  if (a.expert < 0) return b;
  if (b.expert < 0) return a;
  if (a.probability > b.probability) return a;
  if (b.probability > a.probability) return b;
  return a.expert < b.expert ? a : b;
}

__device__ __forceinline__ Candidate best_of_warp(Candidate mine) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    const Candidate other{__shfl_xor_sync(all_lanes, mine.probability, distance),
                          __shfl_xor_sync(all_lanes, mine.expert, distance)};
    mine = better_of(mine, other);
  }
  return mine;
}

__global__ void __launch_bounds__(block_threads) choose_experts(RouterChoice args) {
  const std::int64_t token = token_of_warp();
  if (token >= args.probabilities.rows) return;
  const int experts = static_cast<int>(args.probabilities.columns);
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  unsigned taken = 0;  // of this lane's experts, by bits
  for (std::int64_t k = 0; k < args.chosen; ++k) {
    Candidate mine;
    for (int i = 0; i < most_per_lane && lane + i * lanes < experts; ++i)
      if ((taken >> i & 1U) == 0)
        mine = better_of(mine, {load(args.probabilities, token, lane + i * lanes), lane + i * lanes});
    const Candidate best = best_of_warp(mine);
    if (best.expert % lanes == lane) taken |= 1U << (best.expert / lanes);
    if (lane == 0) args.experts[token * args.chosen + k] = best.expert;
  }
}

template <class Args>
__device__ __forceinline__ float chosen_sum(const Args& args, std::int64_t token) {
  float sum = 0;
  for (std::int64_t k = 0; k < args.chosen; ++k)
    sum += load(args.probabilities, token, args.experts[token * args.chosen + k]);
  return sum;
}

__global__ void weigh_experts(RouterWeighing args) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       token < args.probabilities.rows; token += step) {
    const float inverse = args.kind == RouterWeights::normalised ? 1.0F / chosen_sum(args, token) : 1.0F;
    for (std::int64_t k = token * args.chosen; k < (token + 1) * args.chosen; ++k)
      args.weights[k] = load(args.probabilities, token, args.experts[k]) * inverse;
  }
}

/// What a token's weights pass on, the same for all experts.
struct WeightGradient {
  float inverse = 1;
  float along = 0;
};

__device__ __forceinline__ WeightGradient weight_gradient_of(const RouterBackward& args, std::int64_t token) {
  WeightGradient result;
  if (args.kind != RouterWeights::normalised) return result;
  result.inverse = 1.0F / chosen_sum(args, token);
  for (std::int64_t k = token * args.chosen; k < (token + 1) * args.chosen; ++k)
    result.along += args.weight_gradient[k] * load(args.probabilities, token, args.experts[k]) * result.inverse;
  return result;
}

/// The gradient of one probability, through the weights.
__device__ __forceinline__ float probability_gradient(const RouterBackward& args, std::int64_t token, std::int64_t e,
                                                      const WeightGradient& of_weights) {
  float gradient = 0;
  for (std::int64_t k = token * args.chosen; k < (token + 1) * args.chosen; ++k)
    if (args.experts[k] == e) gradient += (args.weight_gradient[k] - of_weights.along) * of_weights.inverse;
  return gradient;
}

__global__ void __launch_bounds__(block_threads) router_gradient(RouterBackward args) {
  const std::int64_t token = token_of_warp();
  if (token >= args.probabilities.rows) return;
  const std::int64_t experts = args.probabilities.columns;
  const std::int64_t lane = threadIdx.x % lanes;
  const WeightGradient of_weights = weight_gradient_of(args, token);
  float along = 0;
  for (std::int64_t e = lane; e < experts; e += lanes)
    along += load(args.probabilities, token, e) * probability_gradient(args, token, e, of_weights);
  along = warp_sum(along);
  for (std::int64_t e = lane; e < experts; e += lanes)
    store(args.logit_gradient, token, e,
          load(args.probabilities, token, e) * (probability_gradient(args, token, e, of_weights) - along));
}

LaunchShape token_shape(std::int64_t tokens) {
  return {.grid = dim3(static_cast<unsigned>((tokens + tokens_per_block - 1) / tokens_per_block))};
}

}  // namespace

void router_choice(const RouterChoice& args, cudaStream_t stream) {
  const std::int64_t experts = args.probabilities.columns;
  check(experts <= most_experts && args.chosen <= experts,
        "a router has as many experts as it chooses, and not too many");
  launch("router_choice", token_shape(args.probabilities.rows), stream, choose_experts, args);
}

void router_weighing(const RouterWeighing& args, cudaStream_t stream) {
  const std::int64_t tokens = args.probabilities.rows;
  if (tokens == 0) return;
  launch("router_weighing", {.grid = dim3(blocks_for(tokens, block_threads))}, stream, weigh_experts, args);
}

void router_forward(const RouterForward& args, cudaStream_t stream) {
  check_same_shape(args.logits, args.probabilities);
  launch("router_forward", token_shape(args.logits.rows), stream, router_softmax, args);
  // What backward will read decides, so that both see the same numbers when they are kept in 16 bits.
  router_choice({args.probabilities, args.experts, args.chosen}, stream);
  router_weighing({args.probabilities, args.experts, args.weights, args.chosen, args.kind}, stream);
}

void router_backward(const RouterBackward& args, cudaStream_t stream) {
  check_same_shape(args.probabilities, args.logit_gradient);
  check(args.probabilities.columns <= most_experts, "a router has not too many experts");
  launch("router_backward", token_shape(args.probabilities.rows), stream, router_gradient, args);
}

}  // namespace plumbline::cuda
