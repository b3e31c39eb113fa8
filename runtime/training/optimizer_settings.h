#pragma once
/// \file optimizer_settings.h: the numbers of an optimizer that no prediction depends on.
///
/// Source of the defaults: Loshchilov and Hutter, arXiv:1711.05101 (betas, epsilon); Brown et al., arXiv:2005.14165,
/// appendix B (decay 0.1, beta2 0.95, clip at 1). Not modelled: settings for groups of parameters.
/// Checked against: tests/runtime/execution/training_golden_test.cpp (PyTorch's AdamW with the same numbers).

#include "runtime/training/weight_rounding.h"

namespace plumbline {

/// Decay acts on matrices alone, as is usual (norms and biases are left out).
struct OptimizerSettings {
  float beta1 = 0.9F;
  float beta2 = 0.95F;
  float epsilon = 1e-8F;
  float momentum = 0.9F;
  float weight_decay = 0.1F;
  double clip_norm = 1.0;                             ///< of all gradients together; 0: no clipping
  WeightRounding rounding = WeightRounding::nearest;  ///< of weights without master copies
  double clip_value = 0;  ///< largest magnitude of an element, behind the clipping of the norm; 0: no clipping
};

}  // namespace plumbline
