#include "kernels/rms_norm.h"

#include <cmath>

#include "kernels/reference/column_sum.h"
#include "kernels/reference/gradient_chunks.h"
#include "kernels/reference/lanes.h"
#include "kernels/reference/vector_loops.h"

namespace plumbline::reference {
namespace {

double sum_of_squares(const ConstTensorView& x, std::int64_t row) {
  double sum = 0;
  for_each_chunk(x.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk chunk;
    const float* v = load(x, row, begin, count, chunk);
    sum += sum_of_squares_of(v, count);
  });
  return sum;
}

void normalise_row(const RmsNormForward& args, std::int64_t row) {
  const float r = args.inverse_root[row];
  for_each_chunk(args.input.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk in;
    Chunk scale;
    Chunk out;
    const float* x = load(args.input, row, begin, count, in);
    const float* w = load(args.weight, 0, begin, count, scale);
    for (std::int64_t i = 0; i < count; ++i) out.values[i] = x[i] * r * w[i];
    store(args.output, row, begin, count, out.values);
  });
}

/// The mean over the row of dy * w * x, which the normalisation takes away from the gradient.
double projection(const RmsNormBackward& args, std::int64_t row) {
  double sum = 0;
  for_each_gradient_chunk(
      args, row, [&](std::int64_t, std::int64_t count, const float* dy, const float* w, const float* x) {
        sum += lane_sum<double>(count, [&](std::int64_t i) { return static_cast<double>(dy[i] * w[i] * x[i]); });
      });
  return sum / static_cast<double>(args.input.columns);
}

// dx = r (dy w - x r^2 mean(dy w x))
void input_gradient_row(const RmsNormBackward& args, std::int64_t row) {
  const float r = args.inverse_root[row];
  const auto pull = static_cast<float>(projection(args, row)) * r * r;
  for_each_gradient_chunk(args, row,
                          [&](std::int64_t begin, std::int64_t count, const float* dy, const float* w, const float* x) {
                            Chunk out;
                            for (std::int64_t i = 0; i < count; ++i) out.values[i] = r * (dy[i] * w[i] - x[i] * pull);
                            store(args.input_gradient, row, begin, count, out.values);
                          });
}

void weight_gradient(const RmsNormBackward& args) {
  column_sums(args.weight_gradient, args.input.rows, args.write,
              [&](std::int64_t row, std::int64_t begin, std::int64_t count, double* sums) {
                Chunk a;
                Chunk b;
                const float* dy = load(args.output_gradient, row, begin, count, a);
                const float* x = load(args.input, row, begin, count, b);
                const float r = args.inverse_root[row];
                for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(dy[i] * x[i] * r);
              });
}

}  // namespace

void rms_norm_forward(const RmsNormForward& args) {
  check_same_shape(args.input, args.output);
  for (std::int64_t row = 0; row < args.input.rows; ++row) {
    const double mean = sum_of_squares(args.input, row) / static_cast<double>(args.input.columns);
    args.inverse_root[row] = static_cast<float>(1.0 / std::sqrt(mean + static_cast<double>(args.epsilon)));
    normalise_row(args, row);
  }
}

Bytes rms_norm_workspace(const RmsNormBackward& /*args*/) { return Bytes(0); }

void rms_norm_backward(const RmsNormBackward& args) {
  check_same_shape(args.input, args.output_gradient);
  if (args.weight_gradient.is_there()) weight_gradient(args);  // before the output's gradient may be overwritten
  if (!args.input_gradient.is_there()) return;
  for (std::int64_t row = 0; row < args.input.rows; ++row) input_gradient_row(args, row);
}

}  // namespace plumbline::reference
