// A block takes a row; sums over rows, for the weights' gradients, are kernels of their own that run first, because the
// output's gradient may be overwritten.
#include <cmath>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/column_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/vectors.h"

namespace plumbline::cuda {
namespace {

/// Blocks of sums that share a multiprocessor at least: 128 registers for each thread, so that none is spilled.
constexpr int parts_blocks = 2;

template <int N>
__global__ void __launch_bounds__(block_threads) rms_normalise(RmsNormForward args) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t columns = args.input.columns;
  float squares = 0;
  for_each_column_group<N>(columns, [&](auto count, std::int64_t column) {
    const Numbers<count> x = load_numbers<count>(args.input, row, column);
    for (int i = 0; i < count; ++i) squares += x.at[i] * x.at[i];
  });
  const float r = 1.0F / sqrtf(block_sum(squares) / static_cast<float>(columns) + args.epsilon);
  if (threadIdx.x == 0) args.inverse_root[row] = r;
  for_each_column_group<N>(columns, [&](auto count, std::int64_t column) {
    Numbers<count> x = load_numbers<count>(args.input, row, column);
    const Numbers<count> weight = load_numbers<count>(args.weight, 0, column);
    for (int i = 0; i < count; ++i) x.at[i] = x.at[i] * r * weight.at[i];
    store_numbers<count>(args.output, row, column, x);
  });
}

// dx = r (dy w - x r^2 mean(dy w x))
template <int N>
__global__ void __launch_bounds__(block_threads) rms_gradient(RmsNormBackward args) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t columns = args.input.columns;
  const float r = args.inverse_root[row];
  float along = 0;
  for_each_column_group<N>(columns, [&](auto count, std::int64_t column) {
    const Numbers<count> dy = load_numbers<count>(args.output_gradient, row, column);
    const Numbers<count> weight = load_numbers<count>(args.weight, 0, column);
    const Numbers<count> x = load_numbers<count>(args.input, row, column);
    for (int i = 0; i < count; ++i) along += dy.at[i] * weight.at[i] * x.at[i];
  });
  const float pull = block_sum(along) / static_cast<float>(columns) * r * r;
  for_each_column_group<N>(columns, [&](auto count, std::int64_t column) {
    Numbers<count> dy = load_numbers<count>(args.output_gradient, row, column);
    const Numbers<count> weight = load_numbers<count>(args.weight, 0, column);
    const Numbers<count> x = load_numbers<count>(args.input, row, column);
    for (int i = 0; i < count; ++i) dy.at[i] = r * (dy.at[i] * weight.at[i] - x.at[i] * pull);
    store_numbers<count>(args.input_gradient, row, column, dy);
  });
}

__global__ void rms_weight_gradient(RmsNormBackward args) {
  sum_columns(args.weight_gradient, 0, 0, args.input.rows, args.write, [&](std::int64_t row, std::int64_t column) {
    return load(args.output_gradient, row, column) * load(args.input, row, column) * args.inverse_root[row];
  });
}

template <int N>
__global__ void __launch_bounds__(block_threads, parts_blocks)
    rms_weight_parts(RmsNormBackward args, float* parts, std::int64_t rows_of_part) {
  const auto terms = [&](auto count, std::int64_t row, std::int64_t column) {
    Numbers<count> dy = load_numbers<count>(args.output_gradient, row, column);
    const Numbers<count> x = load_numbers<count>(args.input, row, column);
    PLUMBLINE_UNROLLED
    for (int i = 0; i < count; ++i) dy.at[i] = dy.at[i] * x.at[i] * args.inverse_root[row];
    return ColumnTerms<count, 1>{{dy}};
  };
  sum_column_parts<N, 1>(parts, args.input.rows, args.input.columns, rows_of_part, terms);
}

template <int N>
__global__ void __launch_bounds__(block_threads) layer_normalise(LayerNormForward args) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t columns = args.input.columns;
  float sum = 0;
  for_each_column_group<N>(columns, [&](auto count, std::int64_t column) {
    const Numbers<count> x = load_numbers<count>(args.input, row, column);
    for (int i = 0; i < count; ++i) sum += x.at[i];
  });
  const float mean = block_sum(sum) / static_cast<float>(columns);
  float squares = 0;
  for_each_column_group<N>(columns, [&](auto count, std::int64_t column) {
    const Numbers<count> x = load_numbers<count>(args.input, row, column);
    for (int i = 0; i < count; ++i) squares += (x.at[i] - mean) * (x.at[i] - mean);
  });
  const float r = 1.0F / sqrtf(block_sum(squares) / static_cast<float>(columns) + args.epsilon);
  if (threadIdx.x == 0) {
    args.mean[row] = mean;
    args.inverse_deviation[row] = r;
  }
  for_each_column_group<N>(columns, [&](auto count, std::int64_t column) {
    Numbers<count> bias = {};
    if (args.bias.data != nullptr) bias = load_numbers<count>(args.bias, 0, column);
    Numbers<count> x = load_numbers<count>(args.input, row, column);
    const Numbers<count> weight = load_numbers<count>(args.weight, 0, column);
    for (int i = 0; i < count; ++i) x.at[i] = (x.at[i] - mean) * r * weight.at[i] + bias.at[i];
    store_numbers<count>(args.output, row, column, x);
  });
}

// dx = r (g - mean(g) - xhat mean(g xhat)), g = dy w
template <int N>
__global__ void __launch_bounds__(block_threads) layer_gradient(LayerNormBackward args) {
  const std::int64_t row = blockIdx.x;
  const auto columns = static_cast<float>(args.input.columns);
  const float mean = args.mean[row];
  const float r = args.inverse_deviation[row];
  float sum = 0;
  float along_input = 0;
  for_each_column_group<N>(args.input.columns, [&](auto count, std::int64_t column) {
    const Numbers<count> dy = load_numbers<count>(args.output_gradient, row, column);
    const Numbers<count> weight = load_numbers<count>(args.weight, 0, column);
    const Numbers<count> x = load_numbers<count>(args.input, row, column);
    for (int i = 0; i < count; ++i) {
      sum += dy.at[i] * weight.at[i];
      along_input += dy.at[i] * weight.at[i] * ((x.at[i] - mean) * r);
    }
  });
  const float level = block_sum(sum) / columns;
  const float along = block_sum(along_input) / columns;
  for_each_column_group<N>(args.input.columns, [&](auto count, std::int64_t column) {
    Numbers<count> dy = load_numbers<count>(args.output_gradient, row, column);
    const Numbers<count> weight = load_numbers<count>(args.weight, 0, column);
    const Numbers<count> x = load_numbers<count>(args.input, row, column);
    for (int i = 0; i < count; ++i) dy.at[i] = r * (dy.at[i] * weight.at[i] - level - (x.at[i] - mean) * r * along);
    store_numbers<count>(args.input_gradient, row, column, dy);
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

/// Partial sums of the weight's gradient, followed by those of the bias's.
template <int N>
__global__ void __launch_bounds__(block_threads)
    layer_parameter_parts(LayerNormBackward args, float* parts, std::int64_t rows_of_part) {
  const auto terms = [&](auto count, std::int64_t row, std::int64_t column) {
    const Numbers<count> dy = load_numbers<count>(args.output_gradient, row, column);
    Numbers<count> x = load_numbers<count>(args.input, row, column);
    PLUMBLINE_UNROLLED
    for (int i = 0; i < count; ++i) x.at[i] = dy.at[i] * ((x.at[i] - args.mean[row]) * args.inverse_deviation[row]);
    return ColumnTerms<count, 2>{{x, dy}};
  };
  sum_column_parts<N, 2>(parts, args.input.rows, args.input.columns, rows_of_part, terms);
}

__global__ void add_column_parts(ConstTensorView parts, TensorView target, Write write) {
  sum_columns(target, 0, 0, parts.rows, write,
              [&](std::int64_t part, std::int64_t column) { return load(parts, part, column); });
}

void finish_columns(const char* name, const TensorView& parts, const TensorView& target, Write write,
                    cudaStream_t stream) {
  if (target.is_there())
    launch(name, column_sum_shape(target.columns), stream, add_column_parts, ConstTensorView(parts), target, write);
}

constexpr auto needs_workspace = "the workspace is as large as the op's workspace function says";

void rms_parameter_gradient(const RmsNormBackward& args, cudaStream_t stream) {
  const std::int64_t rows = args.input.rows;
  const std::int64_t columns = args.input.columns;
  const RowParts divided = row_parts(rows);
  if (divided.parts == 1)
    return launch("rms_norm_backward of the weight", column_sum_shape(columns), stream, rms_weight_gradient, args);
  check(args.workspace.size >= rms_norm_workspace(args), needs_workspace);
  const bool is_vector = takes_vectors(args.input, args.output_gradient);
  const auto kernel = is_vector ? rms_weight_parts<vector_elements> : rms_weight_parts<1>;
  launch("rms_norm_backward of the weight", row_parts_shape(rows, columns, is_vector), stream, kernel, args,
         static_cast<float*>(args.workspace.data), divided.rows);
  finish_columns("rms_norm_backward of the weight's parts", part_rows(args.workspace, rows, columns, 0),
                 args.weight_gradient, args.write, stream);
}

void layer_parameter_gradients(const LayerNormBackward& args, cudaStream_t stream) {
  const std::int64_t rows = args.input.rows;
  const std::int64_t columns = args.input.columns;
  const RowParts divided = row_parts(rows);
  if (divided.parts == 1) {
    const LaunchShape sums = column_sum_shape(columns);
    if (args.weight_gradient.is_there())
      launch("layer_norm_backward of the weight", sums, stream, layer_weight_gradient, args);
    if (args.bias_gradient.is_there())
      launch("layer_norm_backward of the bias", sums, stream, layer_bias_gradient, args);
    return;
  }
  check(args.workspace.size >= layer_norm_workspace(args), needs_workspace);
  const bool is_vector = takes_vectors(args.input, args.output_gradient);
  const auto kernel = is_vector ? layer_parameter_parts<vector_elements> : layer_parameter_parts<1>;
  launch("layer_norm_backward of the parameters", row_parts_shape(rows, columns, is_vector), stream, kernel, args,
         static_cast<float*>(args.workspace.data), divided.rows);
  finish_columns("layer_norm_backward of the weight's parts", part_rows(args.workspace, rows, columns, 0),
                 args.weight_gradient, args.write, stream);
  finish_columns("layer_norm_backward of the bias's parts", part_rows(args.workspace, rows, columns, 1),
                 args.bias_gradient, args.write, stream);
}

}  // namespace

Bytes rms_norm_workspace(const RmsNormBackward& args) {
  return args.weight_gradient.is_there() ? row_parts_workspace(args.input.rows, args.input.columns, 1) : Bytes(0);
}

Bytes layer_norm_workspace(const LayerNormBackward& args) {
  const bool sums = args.weight_gradient.is_there() || args.bias_gradient.is_there();
  return sums ? row_parts_workspace(args.input.rows, args.input.columns, 2) : Bytes(0);
}

void rms_norm_forward(const RmsNormForward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  const bool is_vector = takes_vectors(args.input, args.output, args.weight);
  const auto kernel = is_vector ? rms_normalise<vector_elements> : rms_normalise<1>;
  launch("rms_norm_forward", row_shape(args.input.rows), stream, kernel, args);
}

void rms_norm_backward(const RmsNormBackward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output_gradient);
  if (args.weight_gradient.is_there()) rms_parameter_gradient(args, stream);
  if (!args.input_gradient.is_there()) return;
  const bool is_vector = takes_vectors(args.input, args.output_gradient, args.weight, args.input_gradient);
  const auto kernel = is_vector ? rms_gradient<vector_elements> : rms_gradient<1>;
  launch("rms_norm_backward", row_shape(args.input.rows), stream, kernel, args);
}

void layer_norm_forward(const LayerNormForward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  const bool is_vector = takes_vectors(args.input, args.output, args.weight, args.bias);
  const auto kernel = is_vector ? layer_normalise<vector_elements> : layer_normalise<1>;
  launch("layer_norm_forward", row_shape(args.input.rows), stream, kernel, args);
}

void layer_norm_backward(const LayerNormBackward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output_gradient);
  if (args.weight_gradient.is_there() || args.bias_gradient.is_there()) layer_parameter_gradients(args, stream);
  if (!args.input_gradient.is_there()) return;
  const bool is_vector = takes_vectors(args.input, args.output_gradient, args.weight, args.input_gradient);
  const auto kernel = is_vector ? layer_gradient<vector_elements> : layer_gradient<1>;
  launch("layer_norm_backward", row_shape(args.input.rows), stream, kernel, args);
}

}  // namespace plumbline::cuda
