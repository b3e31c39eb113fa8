#include <cmath>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/vectors.h"

namespace plumbline::cuda {
namespace {

/// Column of a token's target in this rank's logits, or nothing (-1).
__device__ __forceinline__ std::int64_t target_column(const CrossEntropy& args, std::int64_t token) {
  const std::int64_t target = args.targets[token];
  const std::int64_t column = target - args.first_class;
  return target >= 0 && column >= 0 && column < args.logits.columns ? column : -1;
}

template <int N>
__global__ void __launch_bounds__(block_threads) largest_logits(CrossEntropy args) {
  const std::int64_t token = blockIdx.x;
  float top = -__uint_as_float(0x7f800000U);
  for_each_column_group<N>(args.logits.columns, [&](auto count, std::int64_t column) {
    const Numbers<count> logits = load_numbers<count>(args.logits, token, column);
    for (int i = 0; i < count; ++i) top = Maximum{}(top, logits.at[i]);
  });
  top = block_maximum(top);
  if (threadIdx.x == 0) args.maximum[token] = top;
}

template <int N>
__global__ void __launch_bounds__(block_threads) sum_exponentials(CrossEntropy args) {
  const std::int64_t token = blockIdx.x;
  const float top = args.maximum[token];
  double sum = 0;
  for_each_column_group<N>(args.logits.columns, [&](auto count, std::int64_t column) {
    const Numbers<count> logits = load_numbers<count>(args.logits, token, column);
    for (int i = 0; i < count; ++i) sum += static_cast<double>(expf(logits.at[i] - top));
  });
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  const std::int64_t column = target_column(args, token);
  args.sum[token] = static_cast<float>(sum);
  args.target_logit[token] = column >= 0 ? load(args.logits, token, column) : 0.0F;
}

__device__ __forceinline__ float scale_of_gradients(const CrossEntropy& args) {
  return args.loss_scale != nullptr ? args.gradient_scale * static_cast<float>(*args.loss_scale) : args.gradient_scale;
}

/// A thread reads the elements that it writes and no others: the gradient may lie where the logits do.
template <int N>
__global__ void __launch_bounds__(block_threads) logit_gradients(CrossEntropy args) {
  const std::int64_t token = blockIdx.x;
  const bool counts = args.targets[token] >= 0;
  const std::int64_t target = target_column(args, token);
  const float top = args.maximum[token];
  const float scale = scale_of_gradients(args);
  const float factor = counts ? scale / args.sum[token] : 0.0F;
  for_each_column_group<N>(args.logits.columns, [&](auto count, std::int64_t column) {
    Numbers<count> numbers = load_numbers<count>(args.logits, token, column);
    for (int i = 0; i < count; ++i) {
      numbers.at[i] = counts ? expf(numbers.at[i] - top) * factor : 0.0F;
      if (column + i == target) numbers.at[i] -= scale;
    }
    store_numbers<count>(args.logit_gradient, token, column, numbers);
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
  const auto kernel = takes_vectors(args.logits) ? largest_logits<vector_elements> : largest_logits<1>;
  launch("cross_entropy_local_maximum", row_shape(args.logits.rows), stream, kernel, args);
}

void cross_entropy_local_sum(const CrossEntropy& args, cudaStream_t stream) {
  const auto kernel = takes_vectors(args.logits) ? sum_exponentials<vector_elements> : sum_exponentials<1>;
  launch("cross_entropy_local_sum", row_shape(args.logits.rows), stream, kernel, args);
}

void cross_entropy_add(const CrossEntropy& args, CrossEntropyLoss* sum, cudaStream_t stream) {
  launch("cross_entropy_add", {.grid = dim3(1)}, stream, add_losses, args, sum);
  if (!args.logit_gradient.is_there()) return;
  check_same_shape(args.logits, args.logit_gradient);
  const bool is_vector = takes_vectors(args.logits, args.logit_gradient);
  const auto kernel = is_vector ? logit_gradients<vector_elements> : logit_gradients<1>;
  launch("cross_entropy_add of gradients", row_shape(args.logits.rows), stream, kernel, args);
}

}  // namespace plumbline::cuda
