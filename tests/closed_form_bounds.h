#pragma once
/// \file closed_form_bounds.h: how far a simulated step may be from its closed form, as docs/simulate.md states it
/// ("How near the closed form is").

#include "core/plan/pipeline_schedule.h"

namespace plumbline {

[[nodiscard]] inline bool shares_states(const Strategy& s) {
  return s.gradient_ranks() > 1 || s.expert_gradient_ranks() > 1;
}

/// A fraction of the step.
[[nodiscard]] inline double documented_bound(const Strategy& s) {
  if (!shares_states(s)) return 1e-6;
  if (s.pipeline_stages == 1) return 0.0002;
  if (placement(s.schedule) == StagePlacement::v_shaped) return 0.038;
  return s.schedule == Schedule::interleaved ? 0.027 : 0.012;
}

}  // namespace plumbline
