// A block takes a row; sums over rows, for the weights' gradients, are kernels of their own that run first, because the
// output's gradient may be overwritten.
#include <cmath>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/column_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

__global__ void __launch_bounds__(block_threads) rms_normalise(RmsNormForward args) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t columns = args.input.columns;
  float squares = 0;
  for_each_column(columns, [&](std::int64_t column) {
    const float x = load(args.input, row, column);
    squares += x * x;
  });
  const float r = 1.0F / sqrtf(block_sum(squares) / static_cast<float>(columns) + args.epsilon);
  if (threadIdx.x == 0) args.inverse_root[row] = r;
  for_each_column(columns, [&](std::int64_t column) {
    store(args.output, row, column, load(args.input, row, column) * r * load(args.weight, 0, column));
  });
}

// dx = r (dy w - x r^2 mean(dy w x))
__global__ void __launch_bounds__(block_threads) rms_gradient(RmsNormBackward args) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t columns = args.input.columns;
  const float r = args.inverse_root[row];
  float along = 0;
  for_each_column(columns, [&](std::int64_t column) {
    along += load(args.output_gradient, row, column) * load(args.weight, 0, column) * load(args.input, row, column);
  });
  const float pull = block_sum(along) / static_cast<float>(columns) * r * r;
  for_each_column(columns, [&](std::int64_t column) {
    const float g = load(args.output_gradient, row, column) * load(args.weight, 0, column);
    store(args.input_gradient, row, column, r * (g - load(args.input, row, column) * pull));
  });
}

__global__ void rms_weight_gradient(RmsNormBackward args) {
  sum_columns(args.weight_gradient, 0, 0, args.input.rows, args.write, [&](std::int64_t row, std::int64_t column) {
    return load(args.output_gradient, row, column) * load(args.input, row, column) * args.inverse_root[row];
  });
}

__global__ void __launch_bounds__(block_threads) layer_normalise(LayerNormForward args) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t columns = args.input.columns;
  float sum = 0;
  for_each_column(columns, [&](std::int64_t column) { sum += load(args.input, row, column); });
  const float mean = block_sum(sum) / static_cast<float>(columns);
  float squares = 0;
  for_each_column(columns, [&](std::int64_t column) {
    const float d = load(args.input, row, column) - mean;
    squares += d * d;
  });
  const float r = 1.0F / sqrtf(block_sum(squares) / static_cast<float>(columns) + args.epsilon);
  if (threadIdx.x == 0) {
    args.mean[row] = mean;
    args.inverse_deviation[row] = r;
  }
  for_each_column(columns, [&](std::int64_t column) {
    const float bias = args.bias.data != nullptr ? load(args.bias, 0, column) : 0.0F;
    store(args.output, row, column, (load(args.input, row, column) - mean) * r * load(args.weight, 0, column) + bias);
  });
}

// dx = r (g - mean(g) - xhat mean(g xhat)), g = dy w
__global__ void __launch_bounds__(block_threads) layer_gradient(LayerNormBackward args) {
  const std::int64_t row = blockIdx.x;
  const auto columns = static_cast<float>(args.input.columns);
  const float mean = args.mean[row];
  const float r = args.inverse_deviation[row];
  float sum = 0;
  float along_input = 0;
  for_each_column(args.input.columns, [&](std::int64_t column) {
    const float g = load(args.output_gradient, row, column) * load(args.weight, 0, column);
    sum += g;
    along_input += g * ((load(args.input, row, column) - mean) * r);
  });
  const float level = block_sum(sum) / columns;
  const float along = block_sum(along_input) / columns;
  for_each_column(args.input.columns, [&](std::int64_t column) {
    const float g = load(args.output_gradient, row, column) * load(args.weight, 0, column);
    const float xhat = (load(args.input, row, column) - mean) * r;
    store(args.input_gradient, row, column, r * (g - level - xhat * along));
  });
}

__global__ void layer_weight_gradient(LayerNormBackward args) {
  sum_columns(args.weight_gradient, 0, 0, args.input.rows, args.write, [&](std::int64_t row, std::int64_t column) {
    const float xhat = (load(args.input, row, column) - args.mean[row]) * args.inverse_deviation[row];
    return load(args.output_gradient, row, column) * xhat;
  });
}

__global__ void layer_bias_gradient(LayerNormBackward args) {
  sum_columns(args.bias_gradient, 0, 0, args.input.rows, args.write,
              [&](std::int64_t row, std::int64_t column) { return load(args.output_gradient, row, column); });
}

}  // namespace

void rms_norm_forward(const RmsNormForward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  launch("rms_norm_forward", row_shape(args.input.rows), stream, rms_normalise, args);
}

void rms_norm_backward(const RmsNormBackward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output_gradient);
  const LaunchShape sums = column_sum_shape(args.input.columns);
  if (args.weight_gradient.is_there())
    launch("rms_norm_backward of the weight", sums, stream, rms_weight_gradient, args);
  if (args.input_gradient.is_there())
    launch("rms_norm_backward", row_shape(args.input.rows), stream, rms_gradient, args);
}

void layer_norm_forward(const LayerNormForward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  launch("layer_norm_forward", row_shape(args.input.rows), stream, layer_normalise, args);
}

void layer_norm_backward(const LayerNormBackward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output_gradient);
  const LaunchShape sums = column_sum_shape(args.input.columns);
  if (args.weight_gradient.is_there())
    launch("layer_norm_backward of the weight", sums, stream, layer_weight_gradient, args);
  if (args.bias_gradient.is_there()) launch("layer_norm_backward of the bias", sums, stream, layer_bias_gradient, args);
  if (args.input_gradient.is_there())
    launch("layer_norm_backward", row_shape(args.input.rows), stream, layer_gradient, args);
}

}  // namespace plumbline::cuda
