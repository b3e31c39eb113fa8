#pragma once
/// \file muon.h: momentum whose singular values are all pushed towards 1, for matrices of hidden layers.
///
/// m = momentum * m + g; u = g + momentum * m (Nesterov); O = five Newton-Schulz steps on u / |u|;
/// w = w (1 - learning_rate * weight_decay) - learning_rate * ratio * O.
/// A step is X -> a X + (b A + c A^2) X with A = X X^T, on the side that makes A the smaller. It needs the whole
/// matrix: ranks that hold slices gather first, or own whole matrices. Source: Jordan et al., "Muon: an optimizer for
/// hidden layers in neural networks" (2024): coefficients, five steps, ratio sqrt(max(1, rows / columns)); the other
/// ratio, 0.2 sqrt(max(rows, columns)): Liu et al., arXiv:2502.16982, equation 4. Not modelled: iterating in bf16, as
/// both do for speed (here fp32). Checked against: the same formulas in PyTorch (tests/kernels/optimizer_test.cpp),
/// within 1e-4 in fp32; singular values.

#include "kernels/optimizer_state.h"

namespace plumbline {

enum class MuonRatio : std::uint8_t {
  shape,     ///< sqrt(max(1, rows / columns))
  adamw_rms  ///< 0.2 sqrt(max(rows, columns)): updates as large as AdamW's
};

struct MuonStep {
  OptimizedParameter parameter;
  TensorView momentum_state;
  float momentum = 0.95F;
  MuonRatio ratio = MuonRatio::shape;
  std::int64_t iterations = 5;
  Workspace workspace = {};
};

namespace reference {

[[nodiscard]] Bytes muon_workspace(const MuonStep& args);
void muon_step(const MuonStep& args);

/// The two ends of a step for a slice of a matrix, any rows and columns of it: what is orthogonalised, of the slice's
/// size, whose momentum state is updated (neither is where the step is not taken); and the weights from the same
/// elements of the orthogonal matrix.
void muon_direction(const MuonStep& args, float* direction);
void muon_apply(const MuonStep& args, const float* orthogonal, std::int64_t matrix_rows, std::int64_t matrix_columns);

/// Floats of scratch for `orthogonalise`.
[[nodiscard]] std::int64_t orthogonalise_scratch(std::int64_t rows, std::int64_t columns);
/// Newton-Schulz on a dense fp32 matrix in place, with that many floats of scratch.
void orthogonalise(float* matrix, std::int64_t rows, std::int64_t columns, std::int64_t iterations, float* scratch);

}  // namespace reference
}  // namespace plumbline
