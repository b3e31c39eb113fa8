#pragma once
/// \file loss_scale.h: rules and states of a loss scale (kernels/loss_scale.h) that a run may begin with.
///
/// Model: the state is the device's, which decides steps (kernels/step_decision.h); the host reads it behind each.
/// Checked against: tests/runtime/training/loss_scale_test.cpp.

#include "kernels/loss_scale.h"

namespace plumbline {

/// Throws InputError unless its scales are ordered powers of two.
void require_valid(const LossScaleRule& rule);
/// Throws InputError for a state that no rule leads to.
void require_valid(const LossScaleState& resumed);

}  // namespace plumbline
