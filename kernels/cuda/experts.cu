// Tokens to their experts and back. Orders are found by counting, so that they are the same at every run.
#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

constexpr int warps_per_block = block_threads / lanes;

__device__ __forceinline__ std::int64_t first_of_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t threads_of_grid() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

__global__ void number_experts(ExpertsInTurn args) {
  for (std::int64_t i = first_of_thread(); i < args.tokens * args.chosen; i += threads_of_grid())
    args.experts[i] = static_cast<std::int32_t>((args.first_token * args.chosen + i) % args.expert_count);
}

/// How many threads of the block before this one have `is_set`, and how many in all.
struct Ranked {
  std::int64_t before = 0;
  std::int64_t all = 0;
};
static __device__ __forceinline__ Ranked rank_in_block(bool is_set) {
  __shared__ int of_warp[warps_per_block];
  const unsigned bits = __ballot_sync(all_lanes, is_set ? 1 : 0);
  const unsigned lane = threadIdx.x % lanes;
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  __syncthreads();  // the ranks before may still be read
  if (lane == 0) of_warp[warp] = __popc(bits);
  __syncthreads();
  Ranked ranked;
  ranked.before = __popc(bits & ((1U << lane) - 1U));
  for (int w = 0; w < warps_per_block; ++w) {
    if (w < warp) ranked.before += of_warp[w];
    ranked.all += of_warp[w];
  }
  return ranked;
}

/// A block takes an expert: it counts the choices of experts before, then numbers its own in their order.
__global__ void __launch_bounds__(block_threads) place_choices(ExpertPermutation args) {
  const std::int64_t expert = blockIdx.x;
  std::int64_t before = 0;
  for (std::int64_t i = threadIdx.x; i < args.choices; i += blockDim.x)
    if (args.experts[i] < expert) ++before;
  std::int64_t next = block_sum(before);
  std::int64_t count = 0;
  for (std::int64_t begin = 0; begin < args.choices; begin += blockDim.x) {
    const std::int64_t i = begin + threadIdx.x;
    const bool is_mine = i < args.choices && args.experts[i] == expert;
    const Ranked ranked = rank_in_block(is_mine);
    if (is_mine) {
      args.slots[i] = next + ranked.before;
      args.sources[next + ranked.before] = i;
    }
    next += ranked.all;
    count += ranked.all;
  }
  if (threadIdx.x == 0) args.counts[expert] = count;
}

__global__ void sum_arrivals(ArrivalCounts args) {
  for (std::int64_t e = first_of_thread(); e < args.experts; e += threads_of_grid()) {
    std::int64_t sum = 0;
    for (std::int64_t source = 0; source < args.sources; ++source) sum += args.counts[source * args.experts + e];
    args.by_expert[e] = sum;
  }
}

/// A block takes an expert's rows of one source: where they arrived, and where they are once sorted.
__global__ void __launch_bounds__(block_threads) order_arrivals(ArrivalOrder args) {
  const std::int64_t expert = blockIdx.x;
  const std::int64_t source = blockIdx.y;
  std::int64_t arrived = 0;
  std::int64_t sorted = 0;
  for (std::int64_t i = threadIdx.x; i < args.sources * args.experts; i += blockDim.x) {
    const std::int64_t s = i / args.experts;
    const std::int64_t e = i % args.experts;
    if (s < source || (s == source && e < expert)) arrived += args.counts[i];
    if (e < expert || (e == expert && s < source)) sorted += args.counts[i];
  }
  arrived = block_sum(arrived);
  sorted = block_sum(sorted);
  for (std::int64_t i = threadIdx.x; i < args.counts[source * args.experts + expert]; i += blockDim.x) {
    if (args.of == ArrivalIndex::sorted)
      args.index[sorted + i] = arrived + i;
    else
      args.index[arrived + i] = sorted + i;
  }
}

__global__ void take_chosen(ChosenValues args) {
  for (std::int64_t i = first_of_thread(); i < args.tokens * args.chosen; i += threads_of_grid())
    args.of_choices[i] = args.values[i / args.chosen * args.expert_count + args.experts[i]];
}

__global__ void spread_choices(ChosenValues args) {
  for (std::int64_t i = first_of_thread(); i < args.tokens * args.expert_count; i += threads_of_grid()) {
    const std::int64_t token = i / args.expert_count;
    float value = 0;
    for (std::int64_t k = token * args.chosen; k < (token + 1) * args.chosen; ++k)
      if (args.experts[k] == i % args.expert_count) value = args.of_choices[k];
    args.values[i] = value;
  }
}

__global__ void take_rows(GatherRows args) {
  for_each_element(args.output.rows, args.output.columns, [&](std::int64_t row, std::int64_t column) {
    const std::int64_t from = args.index[row];
    store(args.output, row, column, from >= 0 ? load(args.input, from / args.divisor, column) : 0.0F);
  });
}

__global__ void combine_rows(CombineForward args) {
  for_each_element(args.output.rows, args.output.columns, [&](std::int64_t token, std::int64_t column) {
    float sum = 0;
    for (std::int64_t k = token * args.chosen; k < (token + 1) * args.chosen; ++k)
      // The product is rounded, as on the CPU: not one operation with the sum.
      sum += __fmul_rn(args.weights != nullptr ? args.weights[k] : 1.0F, load(args.rows, args.slots[k], column));
    store(args.output, token, column, sum);
  });
}

/// A block takes a choice; its row is read for the dot product before it may be overwritten.
__global__ void __launch_bounds__(block_threads) combine_gradients(CombineBackward args) {
  const std::int64_t choice = blockIdx.x;
  const std::int64_t token = choice / args.chosen;
  const std::int64_t row = args.slots[choice];
  float dot = 0;
  for_each_column(args.rows.columns, [&](std::int64_t column) {
    dot += load(args.output_gradient, token, column) * load(args.rows, row, column);
  });
  dot = block_sum(dot);
  if (threadIdx.x == 0) args.weight_gradient[choice] = dot;
  for_each_column(args.rows.columns, [&](std::int64_t column) {
    store(args.row_gradient, row, column, args.weights[choice] * load(args.output_gradient, token, column));
  });
}

void launch_over(const char* name, std::int64_t count, cudaStream_t stream, auto kernel, const auto& args) {
  if (count > 0) launch(name, {.grid = dim3(blocks_for(count, block_threads))}, stream, kernel, args);
}

}  // namespace

void experts_in_turn(const ExpertsInTurn& args, cudaStream_t stream) {
  launch_over("experts_in_turn", args.tokens * args.chosen, stream, number_experts, args);
}

void expert_permutation(const ExpertPermutation& args, cudaStream_t stream) {
  launch("expert_permutation", row_shape(args.expert_count), stream, place_choices, args);
}

void arrival_counts(const ArrivalCounts& args, cudaStream_t stream) {
  launch_over("arrival_counts", args.experts, stream, sum_arrivals, args);
}

void arrival_order(const ArrivalOrder& args, cudaStream_t stream) {
  const LaunchShape shape{.grid = dim3(static_cast<unsigned>(args.experts), static_cast<unsigned>(args.sources))};
  launch("arrival_order", shape, stream, order_arrivals, args);
}

void chosen_values(const ChosenValues& args, cudaStream_t stream) {
  launch_over("chosen_values", args.tokens * args.chosen, stream, take_chosen, args);
}

void spread_chosen(const ChosenValues& args, cudaStream_t stream) {
  launch_over("spread_chosen", args.tokens * args.expert_count, stream, spread_choices, args);
}

void gather_rows(const GatherRows& args, cudaStream_t stream) {
  check(args.input.columns == args.output.columns, "gathered rows keep their width");
  launch("gather_rows", element_shape(args.output.rows, args.output.columns), stream, take_rows, args);
}

void combine_forward(const CombineForward& args, cudaStream_t stream) {
  check(args.rows.columns == args.output.columns, "combined rows keep their width");
  launch("combine_forward", element_shape(args.output.rows, args.output.columns), stream, combine_rows, args);
}

void combine_backward(const CombineBackward& args, cudaStream_t stream) {
  check(args.rows.columns == args.output_gradient.columns, "combined rows keep their width");
  launch("combine_backward", row_shape(args.output_gradient.rows * args.chosen), stream, combine_gradients, args);
}

}  // namespace plumbline::cuda
