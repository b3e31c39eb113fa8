#pragma once
/// \file step_decision.h: whether an optimizer takes a step, what gradients are multiplied by, and the next loss scale,
/// from sums of all ranks.
///
/// factor = clip / loss scale, clip = limit / norm where the norm is larger, norm = root of all ranks' squares / loss
/// scale; the step is taken where all losses and gradients are finite. In double precision, added in the order of the
/// ranks, so that every rank decides alike. Source: Pascanu et al., arXiv:1211.5063, algorithm 1 (clipping by the
/// norm); Micikevicius et al., arXiv:1710.03740, section 3.2 (skipped steps). Checked against:
/// tests/kernels/step_decision_test.cpp; tests/kernels/cuda/step_decision_test.cpp (the same bits).

#include "kernels/cross_entropy.h"
#include "kernels/loss_scale.h"
#include "kernels/reductions.h"

namespace plumbline {

/// What one rank adds up in a step.
struct StepTotals {
  CrossEntropyLoss loss;  ///< over its tokens
  TensorHealth gradients;
  std::int64_t stop_signal = 0;  ///< that ends its run; 0: none
};

/// What steps leave to the next one.
struct StepState {
  LossScaleState loss_scale;
  std::int64_t updates = 0;  ///< that the optimizer has taken
  bool operator==(const StepState&) const = default;
};

struct StepDecision {
  float factor = 1;           ///< on gradients
  std::int32_t is_taken = 1;  ///< 0: weights and states stay as they are
  std::int64_t update = 1;    ///< which update of the optimizer it is, from 1
};

struct DecideStep {
  const StepTotals* ranks = nullptr;  ///< one of each
  std::int64_t count = 0;
  double clip_norm = 0;  ///< 0: none
  LossScaleRule rule;
  StepState* state = nullptr;        ///< read, and written for the next step
  StepDecision* decision = nullptr;  ///< written
};

namespace reference {

void decide_step(const DecideStep& args);

}  // namespace reference
}  // namespace plumbline
