#pragma once
/// \file learning_rate.h: the learning rate of every step.
///
/// Model, with steps counted from 0, W steps of warm-up, T steps in all, peak rate r and final rate f:
/// warm-up: r (step + 1) / W; then
/// constant: r; cosine: f + (r - f) (1 + cos(pi x)) / 2, x the fraction of the steps after warm-up that are done;
/// linear: r + (f - r) x;
/// warm-up-stable-decay: r until the last D steps, then straight down to f, which the step after the last would have;
/// inverse square root: r sqrt(W' / (step + 1)), W' = max(W, 1);
/// exponential: r g^n with n the steps after warm-up that are done; step: r g^floor(n / N), N steps at each rate.
/// Source: Loshchilov and Hutter, SGDR (arXiv:1608.03983), eq. 5 without restarts; Hu et al., MiniCPM
/// (arXiv:2404.06395), section 4 (stable, then decay); Vaswani et al., 2017, section 5.3, scaled so that r is the peak;
/// torch.optim.lr_scheduler.ExponentialLR and StepLR.
/// Not modelled: restarts, other shapes of decay, a rate for each group of parameters.
/// Checked against: tests/runtime/training/learning_rate_test.cpp (worked by hand).

#include <cstdint>
#include <string_view>

#include "core/training/learning_rate_shape.h"

namespace plumbline {

/// Of the peak, where a schedule has a final rate and none is said: Brown et al., arXiv:2005.14165, appendix B.
inline constexpr double final_rate_share = 0.1;

struct LearningRateSchedule {
  LearningRateShape shape = LearningRateShape::constant;
  double peak = 0;
  double final_rate = 0;  ///< cosine, linear, stable_then_decay
  std::int64_t steps = 1;
  std::int64_t warmup_steps = 0;
  std::int64_t decay_steps = 0;  ///< stable_then_decay
  double decay_factor = 1;       ///< exponential: of each step; step: of each fall
  std::int64_t decay_every = 1;  ///< step: steps at one rate
};

/// Throws InputError, under the name `where`, for rates that are negative or not finite, a final rate above the peak,
/// phases that are negative or longer than the run together, and a decay that is no factor from 0 to 1 or never due.
void check_learning_rate(const LearningRateSchedule& schedule, std::string_view where);

/// Steps beyond the last keep its formula's end. Pure.
[[nodiscard]] double learning_rate(const LearningRateSchedule& schedule, std::int64_t step);

}  // namespace plumbline
