#include "kernels/layer_norm.h"

#include <cmath>

#include "kernels/reference/column_sum.h"
#include "kernels/reference/gradient_chunks.h"
#include "kernels/reference/lanes.h"

namespace plumbline::reference {
namespace {

double row_mean(const ConstTensorView& x, std::int64_t row) {
  double sum = 0;
  for_each_chunk(x.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk chunk;
    const float* v = load(x, row, begin, count, chunk);
    sum += lane_sum<double>(count, [&](std::int64_t i) { return static_cast<double>(v[i]); });
  });
  return sum / static_cast<double>(x.columns);
}

double row_variance(const ConstTensorView& x, std::int64_t row, double mean) {
  double sum = 0;
  for_each_chunk(x.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk chunk;
    const float* v = load(x, row, begin, count, chunk);
    sum += lane_sum<double>(count, [&](std::int64_t i) {
      const double d = static_cast<double>(v[i]) - mean;
      return d * d;
    });
  });
  return sum / static_cast<double>(x.columns);
}

void normalise_row(const LayerNormForward& args, std::int64_t row) {
  const float mean = args.mean[row];
  const float r = args.inverse_deviation[row];
  for_each_chunk(args.input.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk a;
    Chunk b;
    Chunk out;
    const float* x = load(args.input, row, begin, count, a);
    const float* w = load(args.weight, 0, begin, count, b);
    for (std::int64_t i = 0; i < count; ++i) out.values[i] = (x[i] - mean) * r * w[i];
    if (args.bias.is_there()) {
      const float* bias = load(args.bias, 0, begin, count, b);
      for (std::int64_t i = 0; i < count; ++i) out.values[i] += bias[i];
    }
    store(args.output, row, begin, count, out.values);
  });
}

/// Means over a row of g = dy * w and of g * xhat: what the two normalisations take away from the gradient.
struct Projections {
  double gradient = 0;
  double along_input = 0;
};

Projections projections(const LayerNormBackward& args, std::int64_t row) {
  Projections sum;
  const float mean = args.mean[row];
  const float r = args.inverse_deviation[row];
  for_each_gradient_chunk(
      args, row, [&](std::int64_t, std::int64_t count, const float* dy, const float* w, const float* x) {
        sum.gradient += lane_sum<double>(count, [&](std::int64_t i) { return static_cast<double>(dy[i] * w[i]); });
        sum.along_input += lane_sum<double>(
            count, [&](std::int64_t i) { return static_cast<double>(dy[i] * w[i] * ((x[i] - mean) * r)); });
      });
  const auto columns = static_cast<double>(args.input.columns);
  return {sum.gradient / columns, sum.along_input / columns};
}

// dx = r (g - mean(g) - xhat mean(g xhat)), g = dy w
void input_gradient_row(const LayerNormBackward& args, std::int64_t row) {
  const Projections p = projections(args, row);
  const auto level = static_cast<float>(p.gradient);
  const auto along = static_cast<float>(p.along_input);
  const float mean = args.mean[row];
  const float r = args.inverse_deviation[row];
  for_each_gradient_chunk(args, row,
                          [&](std::int64_t begin, std::int64_t count, const float* dy, const float* w, const float* x) {
                            Chunk out;
                            for (std::int64_t i = 0; i < count; ++i)
                              out.values[i] = r * (dy[i] * w[i] - level - (x[i] - mean) * r * along);
                            store(args.input_gradient, row, begin, count, out.values);
                          });
}

void parameter_gradients(const LayerNormBackward& args) {
  if (args.weight_gradient.is_there())
    column_sums(args.weight_gradient, args.input.rows, args.write,
                [&](std::int64_t row, std::int64_t begin, std::int64_t count, double* sums) {
                  Chunk a;
                  Chunk b;
                  const float* dy = load(args.output_gradient, row, begin, count, a);
                  const float* x = load(args.input, row, begin, count, b);
                  const float mean = args.mean[row];
                  const float r = args.inverse_deviation[row];
                  for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(dy[i] * ((x[i] - mean) * r));
                });
  if (args.bias_gradient.is_there())
    column_sums(args.bias_gradient, args.input.rows, args.write,
                [&](std::int64_t row, std::int64_t begin, std::int64_t count, double* sums) {
                  Chunk a;
                  const float* dy = load(args.output_gradient, row, begin, count, a);
                  for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(dy[i]);
                });
}

}  // namespace

void layer_norm_forward(const LayerNormForward& args) {
  check_same_shape(args.input, args.output);
  for (std::int64_t row = 0; row < args.input.rows; ++row) {
    const double mean = row_mean(args.input, row);
    const double variance = row_variance(args.input, row, mean);
    args.mean[row] = static_cast<float>(mean);
    args.inverse_deviation[row] = static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(args.epsilon)));
    normalise_row(args, row);
  }
}

Bytes layer_norm_workspace(const LayerNormBackward& /*args*/) { return Bytes(0); }

void layer_norm_backward(const LayerNormBackward& args) {
  check_same_shape(args.input, args.output_gradient);
  parameter_gradients(args);  // before the output's gradient may be overwritten
  if (!args.input_gradient.is_there()) return;
  for (std::int64_t row = 0; row < args.input.rows; ++row) input_gradient_row(args, row);
}

}  // namespace plumbline::reference
