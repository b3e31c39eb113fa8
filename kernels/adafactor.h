#pragma once
/// \file adafactor.h: steps divided by the root of a mean of squared gradients that matrices keep by row and by column.
///
/// Of update t, with s = t^-0.8 (1 - beta2), for a matrix (n x m):
///   R_i += s (mean_j g_ij^2 - R_i), C_j += s (mean_i g_ij^2 - C_j), V_ij = R_i C_j / max(mean_i R_i, e1);
///   of a vector V_i += s (g_i^2 - V_i);
///   u = g / sqrt(max(V, e1^2)); a = max(e2, RMS(w)) min(learning_rate, 1 / sqrt(t));
///   w = w (1 - learning_rate * weight_decay) - a u / max(1, RMS(u)), the RMS of w that of before the decay.
/// In four parts, so that ranks add up what each of them has: sums of squares by row and column and of weights; the
/// means, of whole matrices; the sum of the update's squares; the weights. Sums are added to what is there. A tensor
/// may hold several matrices, each of its own; mean R is that of C where only C is whole. Source: Shazeer and Stern,
/// arXiv:1804.04235, algorithms 4 to 6, in torch.optim.Adafactor's arrangement (e1 the rounding of fp32, e2 1e-3, no
/// first moment). Not modelled: other constants, which PyTorch takes. Checked against: PyTorch
/// (tests/kernels/adafactor_test.cpp), ten steps, within 1e-5 in fp32.

#include "kernels/optimizer_state.h"

namespace plumbline {

struct AdafactorStep {
  static constexpr float least_mean = 1.1920929e-7F;  ///< e1
  static constexpr float least_square = least_mean * least_mean;
  static constexpr float least_size = 1e-3F;  ///< e2, of weights

  OptimizedParameter parameter;  ///< one row: elements of the matrices from `first` on; for the means none
  std::int64_t first = 0;
  std::int64_t matrices = 1;  ///< one behind the other
  std::int64_t rows = 1;      ///< of each, here; of a vector its elements
  std::int64_t columns = 1;   ///< of a vector 1
  // Of each where ranks hold slices of it:
  std::int64_t whole_rows = 1;
  std::int64_t whole_columns = 1;
  // One row each, matrix by matrix:
  TensorView row_means;          ///< R; of a vector V
  TensorView column_means = {};  ///< C; nothing: a vector
  // In fp32:
  float* row_sums = nullptr;
  float* column_sums = nullptr;
  float* weight_sums = nullptr;  ///< one for each matrix, as those below
  float* update_sums = nullptr;
  float* mean_rows = nullptr;  ///< mean R
  std::int64_t step = 1;       ///< of this update, counted from 1, where no decision counts it
  Workspace workspace = {};

  [[nodiscard]] constexpr std::int64_t update() const {
    return parameter.decision != nullptr ? parameter.decision->update : step;
  }
  /// As torch.lerp.
  [[nodiscard]] static constexpr float moved(float mean, float to, float share) {
    return share < 0.5F ? mean + share * (to - mean) : to - (to - mean) * (1.0F - share);
  }
  [[nodiscard]] constexpr float elements() const {
    return static_cast<float>(static_cast<double>(whole_rows) * static_cast<double>(whole_columns));
  }
};

namespace reference {

[[nodiscard]] Bytes adafactor_workspace(const AdafactorStep& args);
void adafactor_squares(const AdafactorStep& args);
void adafactor_means(const AdafactorStep& args);
void adafactor_updates(const AdafactorStep& args);
void adafactor_step(const AdafactorStep& args);

}  // namespace reference
}  // namespace plumbline
