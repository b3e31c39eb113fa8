#pragma once
/// \file optimizer_state.h: what all optimizers are handed: a parameter, its master copy, its gradient.
///
/// The gradient is multiplied by `gradient_factor` first (1 / loss scale * clip factor) and clamped to
/// [-gradient_limit, gradient_limit], the update is computed in fp32 from the master copy if there is one, else from
/// the parameter, and each result is rounded once to its format. A decision that its device made multiplies the
/// gradient too, and where the step is not taken nothing is written. Weights without a master copy may be rounded by a
/// draw instead (stochastic_rounding.h). Rows and columns are those of the parameter; a
/// sharded rank passes its slice ([1, count]).

#include <limits>

#include "kernels/step_decision.h"
#include "kernels/stochastic_rounding.h"

namespace plumbline {

struct OptimizedParameter {
  TensorView parameter;       ///< as the model computes with it: written
  TensorView master = {};     ///< fp32 (or any format) copy, read and written; nothing: the parameter itself
  ConstTensorView gradient;   ///< fp32 or 16-bit
  float gradient_factor = 1;  ///< 1 / loss scale * clip factor
  float learning_rate = 0;
  float weight_decay = 0;
  /// Largest magnitude of an element of the gradient, once it is multiplied (torch.nn.utils.clip_grad_value_).
  float gradient_limit = std::numeric_limits<float>::infinity();
  const StepDecision* decision = nullptr;  ///< in the memory of the tensors; nothing: a factor of 1, and taken
  const float* rate_of_step = nullptr;     ///< likewise; nothing: `learning_rate`
  StochasticRounding rounding = {};        ///< of what the next update reads: the master copy, else the parameter
};

}  // namespace plumbline
