#pragma once
/// \file loss_scale.h: the factor on the loss that keeps fp16 gradients above the smallest numbers.
///
/// Model: a step whose gradients overflow is skipped and halves the scale, not below `smallest`; `growth_interval` good
/// steps in a row double it, not above `largest`. Powers of two: scaling and unscaling change no mantissa.
/// Source: Micikevicius et al., "Mixed precision training" (arXiv:1710.03740), section 3.2; the defaults are those of
/// PyTorch's GradScaler (initial 65536, interval 2000).
/// Not modelled: hysteresis (several overflows before a halving).
/// Checked against: tests/kernels/loss_scale_test.cpp.

#include <cstdint>

namespace plumbline {

struct LossScaleRule {
  double initial = 65536;
  double smallest = 1;
  double largest = 4294967296.0;  ///< 2^32: larger ones overflow fp16 with any loss that is worth a step
  std::int64_t growth_interval = 2000;
};

/// What a checkpoint keeps of it.
struct LossScaleState {
  double scale = 1;
  std::int64_t good_steps = 0;  ///< since the last change
  std::int64_t skipped_steps = 0;
  bool operator==(const LossScaleState&) const = default;
};

/// Behind a step that is taken, or that overflowed.
[[nodiscard]] constexpr LossScaleState next_loss_scale(const LossScaleRule& rule, LossScaleState state, bool is_taken) {
  if (!is_taken) {
    const double half = state.scale / 2;
    return {half < rule.smallest ? rule.smallest : half, 0, state.skipped_steps + 1};
  }
  if (++state.good_steps < rule.growth_interval) return state;
  const double twice = state.scale * 2;
  return {twice > rule.largest ? rule.largest : twice, 0, state.skipped_steps};
}

}  // namespace plumbline
