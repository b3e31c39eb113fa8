#include "kernels/muon.h"

#include <algorithm>
#include <cmath>

#include "kernels/reductions.h"
#include "kernels/reference/scratch.h"
#include "kernels/reference/sgemm.h"
#include "kernels/reference/update.h"

namespace plumbline::reference {
namespace {

// The quintic's coefficients of the cited text: steep at 0, so that five steps suffice; values end within about
// 0.7..1.2.
constexpr float quintic_a = 3.4445F;
constexpr float quintic_b = -4.7750F;
constexpr float quintic_c = 2.0315F;
constexpr float smallest_norm = 1e-7F;

struct MuonBuffers {
  MuonBuffers(const MuonStep& args, Scratch scratch) {
    const TensorView& p = args.parameter.parameter;
    direction = scratch.floats(p.size());
    iteration = scratch.floats(orthogonalise_scratch(p.rows, p.columns));
    size = scratch.used();
  }
  float* direction = nullptr;
  float* iteration = nullptr;
  Bytes size{0};
};

float ratio_of(MuonRatio ratio, std::int64_t matrix_rows, std::int64_t matrix_columns) {
  const auto rows = static_cast<float>(matrix_rows);
  const auto columns = static_cast<float>(matrix_columns);
  if (ratio == MuonRatio::adamw_rms) return 0.2F * std::sqrt(std::max(rows, columns));
  return std::sqrt(std::max(1.0F, rows / columns));
}

}  // namespace

std::int64_t orthogonalise_scratch(std::int64_t rows, std::int64_t columns) {
  const std::int64_t side = std::min(rows, columns);
  return 2 * side * side + rows * columns;
}

void orthogonalise(float* x, std::int64_t rows, std::int64_t columns, std::int64_t iterations, float* scratch) {
  const std::int64_t side = std::min(rows, columns);
  const bool wide = rows <= columns;
  float* square = scratch;
  float* polynomial = square + side * side;
  float* next = polynomial + side * side;
  const double norm = std::sqrt(sum_of_squares(dense_view(x, NumberFormat::fp32, 1, rows * columns)));
  const float factor = 1.0F / std::max(static_cast<float>(norm), smallest_norm);
  for (std::int64_t i = 0; i < rows * columns; ++i) x[i] *= factor;
  const Transpose first = wide ? Transpose::no : Transpose::yes;
  const Transpose second = wide ? Transpose::yes : Transpose::no;
  for (std::int64_t step = 0; step < iterations; ++step) {
    sgemm({first, second, side, side, std::max(rows, columns), 1.0F, x, columns, x, columns, 0.0F, square, side});
    std::copy(square, square + side * side, polynomial);
    sgemm({Transpose::no, Transpose::no, side, side, side, quintic_c, square, side, square, side, quintic_b, polynomial,
           side});
    std::copy(x, x + rows * columns, next);
    if (wide)
      sgemm({Transpose::no, Transpose::no, rows, columns, side, 1.0F, polynomial, side, x, columns, quintic_a, next,
             columns});
    else
      sgemm({Transpose::no, Transpose::no, rows, columns, side, 1.0F, x, columns, polynomial, side, quintic_a, next,
             columns});
    std::copy(next, next + rows * columns, x);
  }
}

Bytes muon_workspace(const MuonStep& args) { return MuonBuffers(args, Scratch()).size; }

/// Nesterov's.
void muon_direction(const MuonStep& args, float* direction) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  check_same_shape(p.gradient, args.momentum_state);
  for (std::int64_t row = 0; row < p.gradient.rows; ++row)
    for_each_chunk(p.gradient.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk first;
      Chunk second;
      Chunk sum;
      const float* gradient = load(p.gradient, row, begin, count, first);
      const float* old = load(args.momentum_state, row, begin, count, second);
      float* out = direction + row * p.gradient.columns + begin;
      for (std::int64_t i = 0; i < count; ++i) {
        const float g = scaled_gradient(p, gradient[i]);
        sum.values[i] = args.momentum * old[i] + g;
        out[i] = g + args.momentum * sum.values[i];
      }
      store(args.momentum_state, row, begin, count, sum.values);
    });
}

void muon_apply(const MuonStep& args, const float* orthogonal, std::int64_t matrix_rows, std::int64_t matrix_columns) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  OptimizedParameter p = *decision;
  const float rate = p.learning_rate * ratio_of(args.ratio, matrix_rows, matrix_columns);
  const float keep = 1.0F - p.learning_rate * p.weight_decay;
  p.gradient =
      dense_view(static_cast<const void*>(orthogonal), NumberFormat::fp32, p.parameter.rows, p.parameter.columns);
  update(p, {}, {}, [&](UpdateChunk& chunk) {
    for (std::int64_t i = 0; i < chunk.count; ++i)
      chunk.weight.values[i] = chunk.weight.values[i] * keep - rate * chunk.gradient[i];
  });
}

void muon_step(const MuonStep& args) {
  const MuonBuffers buffers(args, Scratch(args.workspace));
  const std::int64_t rows = args.parameter.parameter.rows;
  const std::int64_t columns = args.parameter.parameter.columns;
  muon_direction(args, buffers.direction);
  orthogonalise(buffers.direction, rows, columns, args.iterations, buffers.iteration);
  muon_apply(args, buffers.direction, rows, columns);
}

}  // namespace plumbline::reference
