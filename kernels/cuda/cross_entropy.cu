#include <cmath>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

/// Column of a token's target in this rank's logits, or nothing (-1).
__device__ __forceinline__ std::int64_t target_column(const CrossEntropy& args, std::int64_t token) {
  const std::int64_t target = args.targets[token];
  const std::int64_t column = target - args.first_class;
  return target >= 0 && column >= 0 && column < args.logits.columns ? column : -1;
}

__global__ void __launch_bounds__(block_threads) largest_logits(CrossEntropy args) {
  const std::int64_t token = blockIdx.x;
  float top = -__uint_as_float(0x7f800000U);
  for_each_column(args.logits.columns,
                  [&](std::int64_t column) { top = Maximum{}(top, load(args.logits, token, column)); });
  top = block_maximum(top);
  if (threadIdx.x == 0) args.maximum[token] = top;
}

__global__ void __launch_bounds__(block_threads) sum_exponentials(CrossEntropy args) {
  const std::int64_t token = blockIdx.x;
  const float top = args.maximum[token];
  double sum = 0;
  for_each_column(args.logits.columns, [&](std::int64_t column) {
    sum += static_cast<double>(expf(load(args.logits, token, column) - top));
  });
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  const std::int64_t column = target_column(args, token);
  args.sum[token] = static_cast<float>(sum);
  args.target_logit[token] = column >= 0 ? load(args.logits, token, column) : 0.0F;
}

/// A thread reads the elements that it writes and no others: the gradient may lie where the logits do.
__global__ void __launch_bounds__(block_threads) logit_gradients(CrossEntropy args) {
  const std::int64_t token = blockIdx.x;
  const bool counts = args.targets[token] >= 0;
  const std::int64_t target = target_column(args, token);
  const float top = args.maximum[token];
  const float factor = counts ? args.gradient_scale / args.sum[token] : 0.0F;
  for_each_column(args.logits.columns, [&](std::int64_t column) {
    float gradient = counts ? expf(load(args.logits, token, column) - top) * factor : 0.0F;
    if (column == target) gradient -= args.gradient_scale;
    store(args.logit_gradient, token, column, gradient);
  });
}

/// One block: tokens are few beside logits.
__global__ void __launch_bounds__(block_threads) add_losses(CrossEntropy args, CrossEntropyLoss* total) {
  double sum = 0;
  std::int64_t tokens = 0;
  for (std::int64_t token = threadIdx.x; token < args.logits.rows; token += blockDim.x) {
    if (args.targets[token] < 0) continue;
    sum += log(static_cast<double>(args.sum[token])) + static_cast<double>(args.maximum[token]) -
           static_cast<double>(args.target_logit[token]);
    ++tokens;
  }
  sum = block_sum(sum);
  tokens = block_sum(tokens);
  if (threadIdx.x != 0) return;
  total->sum += sum;
  total->tokens += tokens;
}

}  // namespace

void cross_entropy_local_maximum(const CrossEntropy& args, cudaStream_t stream) {
  launch("cross_entropy_local_maximum", row_shape(args.logits.rows), stream, largest_logits, args);
}

void cross_entropy_local_sum(const CrossEntropy& args, cudaStream_t stream) {
  launch("cross_entropy_local_sum", row_shape(args.logits.rows), stream, sum_exponentials, args);
}

void cross_entropy_add(const CrossEntropy& args, CrossEntropyLoss* sum, cudaStream_t stream) {
  launch("cross_entropy_add", {.grid = dim3(1)}, stream, add_losses, args, sum);
  if (!args.logit_gradient.is_there()) return;
  check_same_shape(args.logits, args.logit_gradient);
  launch("cross_entropy_add of gradients", row_shape(args.logits.rows), stream, logit_gradients, args);
}

}  // namespace plumbline::cuda
